import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { claimDirectory, MARK_FILE } from './directory-mark.ts';

describe('the mark of a deployment in a directory', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'relay-test-'));
  });
  afterEach(async () => {
    await rm(directory, { recursive: true });
  });

  const someone = () => ({ id: randomUUIDv7(), database: 'host:5432/a name' });

  it('keeps every other deployment out, and lets its own processes in', async () => {
    const [one, other] = [someone(), someone()];
    assert.equal(await claimDirectory(directory, one), null);
    assert.deepEqual(await claimDirectory(directory, other), one);
    assert.equal(await claimDirectory(directory, { ...one, database: 'elsewhere' }), null);
  });

  it('decides for one of those who come at the same time', async () => {
    const all = Array.from({ length: 20 }, someone);
    const owners = await Promise.all(all.map((own) => claimDirectory(directory, own)));
    const first = all[owners.indexOf(null)];
    for (const [index, owner] of owners.entries())
      assert.deepEqual(owner, all[index] === first ? null : first);
  });

  it('is not guessed from a file that is cut off', async () => {
    await writeFile(join(directory, MARK_FILE), '01');
    await assert.rejects(claimDirectory(directory, someone()), /incomplete\. Remove it/);
  });

  it('is not kept where nothing can be written', async () => {
    const file = join(directory, 'file');
    await writeFile(file, '');
    await assert.rejects(claimDirectory(file, someone()), { code: 'ENOTDIR' });
    await assert.rejects(claimDirectory(join(directory, 'missing'), someone()), { code: 'ENOENT' });
  });
});
