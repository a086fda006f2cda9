import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { readConfigText } from '@relay/server/config-file';

it('the file in the guide is valid', () => {
  const guide = readFileSync(
    join(import.meta.dirname, '../../../docs/guides/configuration-as-code.md'),
    'utf8',
  );
  const [, text = ''] = /```yaml\n([^`]+)```/.exec(guide) ?? [];
  const { config, findings } = readConfigText(text, { references: 'in_file' });
  assert.deepEqual(findings, []);
  assert.equal(config?.lanes?.[0]?.slug, 'fast');
});
