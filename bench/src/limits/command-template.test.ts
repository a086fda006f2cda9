import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commandTemplate } from './command-template.ts';

describe('the command of another operation', () => {
  it('differs in the id alone, wherever an argument names it', () => {
    const made = commandTemplate(['EVALSHA', 'op-1', '{"id":"op-1","n":1}', 'rest'], 'op-1');
    assert.deepEqual(made('op-22'), ['EVALSHA', 'op-22', '{"id":"op-22","n":1}', 'rest']);
    assert.deepEqual(made('op-3'), ['EVALSHA', 'op-3', '{"id":"op-3","n":1}', 'rest']);
  });

  it('is refused when nothing names the operation, because all would be one', () => {
    assert.throws(() => commandTemplate(['EVALSHA', 'x'], 'op-1'), /does not name/);
  });
});
