import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { type PrivateRedis, startRedis } from '@relay/testbed';
import { EVERY_REQUEST } from '../domain/limits/limits.fixture.ts';
import { RelayError } from '../domain/relay-error.ts';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { nothingAside } from '../kit/set-aside.fixture.ts';
import { createRedis, type Redis } from '../store/redis/redis.ts';
import { prefixOf, usageStreamOf } from '../store/redis/shards.ts';
import { SOMEBODY } from './ask.fixture.ts';
import { type AdmissionDesk, createDesk } from './desk.ts';
import type { AdmissionEngine, DeskAsk, SettleAsk } from './engine.ts';
import type { JournalDraft } from './journal.ts';
import { relayTo } from './line.ts';
import { createLocalCooldowns } from './local-cooldowns.ts';
import { createRedisEngine } from './redis/engine.ts';
import { createScripts } from './redis/scripts.ts';

const log = createLog('silent');
const USED = { dispatched: true, tokens: 3, spendMicros: 4 };
const UNUSED = { dispatched: false, tokens: 0, spendMicros: 0 };
const POLICY = { id: 'p', metric: 'requests', period: 'minute', limit: 100, counts: EVERY_REQUEST } as const;
const ANSWER_MS_MAX = 2_500;

describe('the admission desk', () => {
  let server: PrivateRedis;
  let redis: Redis;
  let engine: AdmissionEngine;
  let desk: AdmissionDesk;
  let organizationId: string;
  let drafts: JournalDraft[];
  let settlements: SettleAsk[];
  let appended: string[];
  let hasRoom: boolean;

  before(async () => {
    server = await startRedis();
    redis = createRedis({ url: server.url, clock: systemClock, log });
    await redis.whenReady(60_000);
    engine = engineAt(() => Date.now());
  });
  beforeEach(async () => {
    organizationId = randomUUIDv7();
    await redis.run(['FLUSHALL']);
    [drafts, settlements, appended, hasRoom] = [[], [], [], true];
    desk = createDesk({
      engine,
      local: createLocalCooldowns({
        clock: systemClock,
        channel: { announce: () => undefined, subscribe: () => undefined },
      }),
      append: (_organizationId, record) => appended.push(record),
      journal: {
        draft(draft) {
          if (!hasRoom) throw new RelayError('metering_unavailable');
          drafts.push(draft);
        },
        settlement: (settlement) => settlements.push(settlement),
      },
      openings: async () => [],
      clock: systemClock,
      log,
    });
  });
  afterEach(() => desk.stop(1_000));
  after(async () => {
    await redis.close();
    await server.remove();
  });

  function engineAt(nowMs: () => number): AdmissionEngine {
    return createRedisEngine({
      aside: nothingAside,
      scripts: createScripts(redis),
      gatewayId: 'gateway',
      nowMs,
      line: relayTo(() => desk),
    });
  }

  function ask(over: Partial<DeskAsk> = {}): DeskAsk {
    const operationId = over.operationId ?? randomUUIDv7();
    return {
      organizationId,
      operationId,
      queue: 'lane:key',
      waitersMax: 10,
      ...SOMEBODY,
      candidates: ['e1', 'e2'].map((endpointId) => ({ endpointId, paced: true, charges: [] })),
      selection: 'preferred',
      waitMsMax: 60_000,
      draft: `draft of ${operationId}`,
      ...over,
    };
  }

  function charged(given: DeskAsk, limit: number = POLICY.limit): DeskAsk {
    const charges = [{ policy: { ...POLICY, limit }, cost: 1 }];
    return { ...given, candidates: given.candidates.map((candidate) => ({ ...candidate, charges })) };
  }

  /** The records and expired drafts of all entries. */
  async function stream(): Promise<string[]> {
    const key = usageStreamOf(prefixOf(organizationId));
    const entries = (await redis.run(['XRANGE', key, '-', '+'])) as [string, string[]][];
    return entries.flatMap(([, fields]) => fields.join(' ').split(/ (?=[rx] )/));
  }

  async function hasLease(operationId: string): Promise<boolean> {
    return (await redis.run(['HEXISTS', `${prefixOf(organizationId)}leases`, operationId])) === 1;
  }

  async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
    const endMs = performance.now() + 15_000;
    while (!(await holds().catch(() => false))) {
      assert.ok(performance.now() < endMs, what);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Sweeps as a worker does a minute after the gateway died. */
  async function sweepLater(): Promise<void> {
    await engineAt(() => Date.now() + 60_000).sweep();
    // The clock of these shards stays where the sweep moved it.
    for (const key of (await redis.run(['KEYS', '*:clock'])) as string[]) await redis.run(['DEL', key]);
  }

  async function refusal(asked: DeskAsk): Promise<string> {
    const error: unknown = await desk.admit(asked).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof RelayError);
    return error.code;
  }

  it('a request without limits has a lease from before its dispatch to its end', async () => {
    const asked = ask();
    const { operationId } = asked;
    assert.deepEqual(await desk.admit(asked), { kind: 'admitted', candidate: 0, windows: [], agoMs: 0 });
    assert.equal(await hasLease(operationId), true);
    assert.deepEqual(drafts, []);
    desk.settle(organizationId, operationId, USED, 'record');
    await until(async () => !(await hasLease(operationId)), 'the lease lives on');
    assert.deepEqual(await stream(), ['r record']);
    assert.deepEqual([settlements, appended], [[], []]);
  });

  it('a request without limits whose gateway died is posted with its draft', async () => {
    const asked = ask();
    await desk.admit(asked);
    await sweepLater();
    assert.deepEqual(await stream(), [`x ${asked.draft} c 0`]);
  });

  it('a request that waits again after a failed attempt is posted with what that used', async () => {
    const asked = ask();
    await desk.admit(asked);
    await engine.penalize(organizationId, 'e2', 30_000);
    const again = { ...ask({ operationId: asked.operationId, release: USED }), draft: 'second draft' };
    const answer = await desk.admit({ ...again, candidates: again.candidates.slice(1) });
    assert.equal(answer.kind, 'wait');
    await sweepLater();
    assert.deepEqual(await stream(), ['x second draft c -1']);
  });

  it('a request that is refused another attempt keeps a lease until it is settled', async () => {
    const [first, second] = [ask(), ask()];
    for (const asked of [first, second]) {
      await desk.admit(asked);
      const full = charged({ ...asked, release: USED, draft: 'second draft' }, 0);
      assert.equal((await desk.admit(full)).kind, 'refused');
      assert.equal(await hasLease(asked.operationId), true);
    }
    desk.settle(organizationId, first.operationId, USED, 'record');
    await until(async () => !(await hasLease(first.operationId)), 'the lease lives on');
    await sweepLater();
    assert.deepEqual(await stream(), ['r record', 'x second draft c -1']);
  });

  it('a client that leaves while its request waits for another attempt costs no row', async () => {
    const asked = ask();
    await desk.admit(asked);
    await engine.penalize(organizationId, 'e1', 30_000);
    await engine.penalize(organizationId, 'e2', 30_000);
    assert.equal((await desk.admit({ ...asked, release: USED })).kind, 'wait');
    desk.void(organizationId, asked.operationId);
    desk.settle(organizationId, asked.operationId, USED, 'record');
    await until(async () => !(await hasLease(asked.operationId)), 'the lease lives on');
    assert.deepEqual(await stream(), ['r record']);
    assert.deepEqual(appended, []);
  });

  it('the record of a request that was never admitted goes its own way', async () => {
    desk.settle(organizationId, randomUUIDv7(), UNUSED, 'record');
    assert.deepEqual(appended, ['record']);
  });

  const outages: readonly { name: string; begin: () => unknown; end: () => Promise<unknown> }[] = [
    {
      name: 'gone',
      begin: () => server.kill(),
      end: async () => {
        await server.start();
        await redis.whenReady(60_000);
      },
    },
    {
      name: 'frozen',
      begin: () => server.pause(),
      end: async () => {
        server.resume();
        await redis.whenReady(60_000);
      },
    },
    {
      name: 'out of memory',
      begin: () => redis.run(['CONFIG', 'SET', 'maxmemory', '1', 'maxmemory-policy', 'noeviction']),
      end: () => redis.run(['CONFIG', 'SET', 'maxmemory', '0']),
    },
    {
      name: 'a replica',
      begin: () => redis.run(['REPLICAOF', '127.0.0.1', '1']),
      end: () => redis.run(['REPLICAOF', 'NO', 'ONE']),
    },
    {
      name: 'refusing scripts',
      begin: () => redis.run(['ACL', 'SETUSER', 'default', '-@scripting']),
      end: () => redis.run(['ACL', 'SETUSER', 'default', '+@all']),
    },
  ];
  for (const { name, begin, end } of outages) {
    it(`while Redis is ${name}, requests without limits are served from the journal, the others refused`, async () => {
      const before = ask();
      await desk.admit(before);
      await begin();
      try {
        const startMs = performance.now();
        const [free, limited] = [ask(), charged(ask())];
        assert.deepEqual(await desk.admit(free), { kind: 'admitted', candidate: 0, windows: [], agoMs: 0 });
        assert.deepEqual(drafts, [
          { organizationId, operationId: free.operationId, candidate: 0, draft: free.draft },
        ]);
        assert.equal(await refusal(limited), 'policy_unavailable');
        hasRoom = false;
        assert.equal(await refusal(ask()), 'metering_unavailable');
        assert.ok(performance.now() - startMs < ANSWER_MS_MAX, `${performance.now() - startMs} ms`);
        for (const { operationId } of [before, free])
          desk.settle(organizationId, operationId, USED, `record of ${operationId}`);
        await until(async () => settlements.length === 2, 'settlements are not kept');
        assert.deepEqual(
          settlements.map(({ operationId, actual, record }) => [operationId, actual, record]),
          // The journaled settlement does not go to Redis first.
          [free, before].map(({ operationId }) => [operationId, USED, `record of ${operationId}`]),
        );
      } finally {
        await end();
      }
      assert.equal(await desk.stop(5_000), 0);
    });
  }

  it('a request that was served from the journal gets a lease when Redis is back, and is settled through the journal', async () => {
    desk.start();
    await server.kill();
    const asked = ask();
    assert.equal((await desk.admit(asked)).kind, 'admitted');
    await server.start();
    await redis.whenReady(60_000);
    await until(() => hasLease(asked.operationId), 'it gets no lease');
    desk.settle(organizationId, asked.operationId, USED, 'record');
    const [settlement] = settlements;
    assert.equal(settlement?.operationId, asked.operationId);
    assert.equal(await engine.settle(settlement), 'settled');
    assert.deepEqual(await stream(), ['r record']);
    await desk.stop(1_000);
  });
});
