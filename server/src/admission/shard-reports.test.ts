import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createShardReports } from './shard-reports.ts';

describe('a shard that is lost again while it is reported', () => {
  it('is reported again after the first report has ended, and is held until then', async () => {
    const events: string[] = [];
    const firstRestores = Promise.withResolvers<void>();
    let holders = 0;
    const report = createShardReports({
      keeper: {
        async restoreAll(_shard, isWanted) {
          events.push('restores');
          firstRestores.resolve();
          // Long enough for another report to begin beside it.
          await delay(50);
          events.push(isWanted() ? 'restored' : 'not wanted any more');
        },
      },
      settlements: {
        hold() {
          holders += 1;
        },
        release() {
          holders -= 1;
        },
        forgetPosted: async () => void events.push('looks'),
        async sendAgain(_shard, beforeMs, isWanted) {
          if (isWanted()) events.push(`sends what came before ${beforeMs}, held by ${holders}`);
        },
      },
      windows: { restarted: () => undefined },
    });
    const first = report({ shard: 's', beforeMs: 1, opensInMs: 0 });
    await firstRestores.promise;
    await Promise.all([first, report({ shard: 's', beforeMs: 2, opensInMs: 0 })]);
    assert.deepEqual(events, [
      ...['looks', 'restores', 'not wanted any more'],
      ...['looks', 'restores', 'restored', 'sends what came before 2, held by 1'],
    ]);
    assert.equal(holders, 0);
  });
});
