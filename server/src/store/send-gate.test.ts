import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSendGate } from './send-gate.ts';

describe('send gate', () => {
  it('runs no more than its limit, starts the others in order, and refuses the excess', () => {
    const gate = createSendGate({ runningMax: 2, waitingMax: 3 });
    const seen: string[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
      gate.enter(
        () => seen.push(name),
        () => seen.push(`not ${name}`),
      );
    }
    assert.deepEqual(seen, ['a', 'b', 'not f']);
    gate.leave();
    gate.leave();
    assert.deepEqual(seen.slice(3), ['c', 'd']);
    gate.clear();
    assert.deepEqual(seen.slice(5), ['not e']);
    gate.leave();
    gate.leave();
    gate.enter(
      () => seen.push('g'),
      () => seen.push('not g'),
    );
    assert.deepEqual(seen.slice(6), ['g']);
  });

  it('refuses what waited too long in place of starting it', () => {
    let nowMs = 0;
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
    const gate = createSendGate({ runningMax: 1, waitingMax: 20_000, waiting: { clock, msMax: 100 } });
    const seen: string[] = [];
    const enter = (name: string) =>
      gate.enter(
        () => seen.push(name),
        () => seen.push(`not ${name}`),
      );
    enter('a');
    for (let index = 0; index < 10_000; index += 1) enter('old');
    nowMs = 90;
    enter('b');
    nowMs = 150;
    gate.leave();
    assert.deepEqual([seen.length, seen[1], seen.at(-1)], [10_002, 'not old', 'b']);
    gate.leave();
    enter('c');
    assert.equal(seen.at(-1), 'c');
  });

  it('counts and refuses only what has not started', () => {
    const gate = createSendGate({ runningMax: 1, waitingMax: 3 });
    const seen: string[] = [];
    const enter = (name: string) =>
      gate.enter(
        () => seen.push(name),
        () => seen.push(`not ${name}`),
      );
    for (const name of ['a', 'b', 'c', 'd']) enter(name);
    gate.leave();
    assert.deepEqual(seen, ['a', 'b']);
    // One has started, so that there is room for another.
    enter('e');
    gate.clear();
    assert.deepEqual(seen.slice(2), ['not c', 'not d', 'not e']);
  });
});
