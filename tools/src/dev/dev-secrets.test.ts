import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { devSecrets } from './dev-secrets.ts';

test('secrets are made once, kept for the next start, and readable by their owner alone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'relay-dev-'));
  try {
    const file = join(folder, 'cache/dev.json');
    const first = devSecrets(file);
    assert.deepEqual(devSecrets(file), first);
    assert.notEqual(first.apiToken, first.adminToken);
    assert.equal(Buffer.from(first.masterKey, 'base64').length, 32);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    writeFileSync(file, 'not json');
    assert.throws(() => devSecrets(file), /delete it to generate new secrets/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
