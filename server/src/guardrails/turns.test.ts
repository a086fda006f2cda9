import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTurns } from './turns.ts';

describe('turns', () => {
  it('are taken up to their number, then waited for in order', async () => {
    const turns = createTurns(2, 10);
    assert.deepEqual([turns.take(1_000), turns.take(1_000)], [true, true]);
    const served: string[] = [];
    const waiting = ['third', 'fourth'].map(async (name) => {
      if (await turns.take(1_000)) served.push(name);
    });
    assert.equal(turns.size(), 4);
    turns.giveBack();
    await waiting[0];
    assert.deepEqual(served, ['third']);
    turns.giveBack();
    await waiting[1];
    assert.deepEqual(served, ['third', 'fourth']);
    turns.giveBack();
    turns.giveBack();
    assert.equal(turns.size(), 0);
  });

  it('are waited for no longer than the limit, and a turn does not pass to a caller that gave up', async () => {
    const turns = createTurns(1, 10);
    assert.equal(turns.take(1_000), true);
    assert.equal(await turns.take(5), false);
    turns.giveBack();
    assert.equal(turns.size(), 0);
    assert.equal(turns.take(1_000), true);
  });

  it('are refused immediately when too many wait', () => {
    const turns = createTurns(1, 1);
    assert.equal(turns.take(1_000), true);
    void turns.take(20);
    assert.equal(turns.take(1_000), false);
  });
});
