import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock as clock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import type { Redis } from '../store/redis/redis.ts';
import { createStreamGroup } from './stream-group.ts';
import { testSealer } from './test-sealer.fixture.ts';
import { readyEntries, writeEntries } from './write-entries.ts';

describe('what a worker does in order', () => {
  it('an entry is deleted before it is acknowledged: a kill in between leaves it to the next consumer', async () => {
    const commands: string[] = [];
    const redis = {
      async run([name = '']: readonly string[]) {
        await new Promise((resolve) => setImmediate(resolve));
        commands.push(name);
      },
    } as unknown as Redis;
    await createStreamGroup(redis, 'usage', 'one').acknowledge([{ id: '1-1', fields: [] }]);
    assert.deepEqual(commands, ['XDEL', 'XACK']);
  });

  it('a record that cannot be noted as unusable keeps its entry from being acknowledged', async () => {
    const away = () => {
      throw new Error('PostgreSQL is away');
    };
    const db = new Proxy({}, { get: () => away }) as never;
    const taken = [{ group: { stream: 'usage' }, entry: { id: '1-1', fields: ['r', 'garbage'] } }];
    const ready = readyEntries(taken, clock.nowMs());
    assert.equal(ready.unusable.length, 1);
    const ledger = { write: async () => ({ rows: 0, refused: new Map() }) };
    const deps = { ledger, db, clock, sealer: testSealer, log: createLog('silent') };
    await assert.rejects(writeEntries(deps, ready), /away/);
  });
});
