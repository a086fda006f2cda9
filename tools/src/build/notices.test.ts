import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { noticesOf } from './notices.ts';

const root = mkdtempSync(join(tmpdir(), 'relay-notices-'));
after(() => rmSync(root, { recursive: true, force: true }));

function folderOf(name: string, files: Readonly<Record<string, string>>): string {
  const folder = join(root, name);
  mkdirSync(folder);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  return folder;
}

describe('the notices', () => {
  it('name each package with its license and the text of it', () => {
    const one = folderOf('one', {
      'package.json': '{"name":"one","version":"1.2.3","license":"MIT"}',
      'LICENSE.md': 'Do as you like.\n',
      NOTICE: 'By Ada.\n',
    });
    const two = folderOf('two', {
      'package.json': '{"name":"@a/two","version":"2.0.0","license":"Apache-2.0"}',
    });
    // Installed in two places.
    const text = noticesOf([one, two, one]);
    assert.equal(text.match(/^## /gm)?.length, 2);
    assert.match(text, /^## one - 1\.2\.3 \(MIT\)\n\nDo as you like\.\n\nBy Ada\.$/m);
    assert.match(text, /^## @a\/two - 2\.0\.0 \(Apache-2\.0\)$/m);
  });

  it('are refused for a package without a license', () => {
    const bare = folderOf('bare', { 'package.json': '{"name":"bare","version":"1.0.0"}' });
    assert.throws(() => noticesOf([bare]), /bare is in the bundle and names no license/);
  });
});
