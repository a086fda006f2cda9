import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { processSurroundings, type Surroundings } from '../kit/surroundings.ts';
import { applyChange, backupPath, undoChange } from './changes.ts';

describe('changes to settings files', () => {
  let home = '';
  let surroundings: Surroundings;
  let path = '';

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'relay-setup-'));
    surroundings = { ...processSurroundings(), env: {}, home };
    path = join(home, 'agent', 'config.toml');
  });
  afterEach(() => rmSync(home, { recursive: true }));

  it('undo restores bytes and mode after any number of setups', async () => {
    path = join(home, 'config.toml');
    const before = Buffer.from([0xff, 0x0d, 0x0a, 0x00, 0xc3, 0xa9]);
    writeFileSync(path, before);
    chmodSync(path, 0o640);
    await applyChange(surroundings, 'x', path, 'first');
    await applyChange(surroundings, 'x', path, 'second');
    assert.equal(readFileSync(path, 'utf8'), 'second');
    assert.equal(statSync(path).mode & 0o777, 0o640);
    await undoChange(surroundings, 'x', false);
    assert.deepEqual(readFileSync(path), before);
    assert.equal(statSync(path).mode & 0o777, 0o640);
    assert.ok(!existsSync(backupPath(path)));
  });

  it('a file with a key in it is for its owner alone', async () => {
    path = join(home, 'settings.json');
    writeFileSync(path, '{}', { mode: 0o644 });
    await applyChange(surroundings, 'x', path, 'key', true);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    await undoChange(surroundings, 'x', false);
    assert.equal(readFileSync(path, 'utf8'), '{}');
  });

  it('undo removes a file that did not exist before', async () => {
    await applyChange(surroundings, 'x', path, 'new');
    assert.equal(statSync(path).mode & 0o777, 0o600);
    await undoChange(surroundings, 'x', false);
    assert.ok(!existsSync(path));
    await assert.rejects(undoChange(surroundings, 'x', false), /No Relay settings/);
  });

  it('undo keeps later edits unless forced', async () => {
    await applyChange(surroundings, 'x', path, 'new');
    writeFileSync(path, 'mine');
    await assert.rejects(undoChange(surroundings, 'x', false), /changed since/);
    assert.equal(readFileSync(path, 'utf8'), 'mine');
    await undoChange(surroundings, 'x', true);
    assert.ok(!existsSync(path));
  });
});
