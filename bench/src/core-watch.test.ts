import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { busiest, listsCore, watchCore } from './core-watch.ts';

describe('a watched core', () => {
  it('is refused above five per cent, and the message tells how much', () => {
    const watch = watchCore([]);
    assert.doesNotThrow(() => watch.demandQuiet(0.05, 'requests'));
    assert.throws(() => watch.demandQuiet(0.23, 'requests'), /23 % of core 1 during requests/);
  });

  it('names those who used most, as shares of a core', () => {
    const time = (name: string, cpuMs: number) => ({ name, cpuMs });
    const before = new Map([
      [1, time('init', 900)],
      [2, time('tsc', 100)],
    ]);
    const after = new Map([
      [1, time('init', 900)],
      [2, time('tsc', 300)],
      [3, time('vite', 500)],
    ]);
    assert.deepEqual(busiest(before, after, 1_000), ['vite (3) 50 %', 'tsc (2) 20 %']);
  });

  it('belongs to a process whose list of cores has it', () => {
    assert.equal(listsCore('0-1', 1), true);
    assert.equal(listsCore('0,2-3', 1), false);
    assert.equal(listsCore('1', 1), true);
    assert.equal(listsCore('', 1), false);
  });
});
