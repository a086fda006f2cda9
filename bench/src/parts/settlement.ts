import { randomUUIDv7 } from 'node:crypto';
import { loadModule } from '../checkouts/load-module.ts';
import type { EngineAsk } from '../limits/engine-of-checkout.ts';
import { createTraffic } from '../limits/organization-traffic.ts';
import type { Part } from './part.ts';

/** Of a call's command: after the function, its key, the time, the gateway, the way and the number of organizations. */
const SETTLES_AT = 8;
/** As many as come together in one call of a busy gateway. */
const REQUESTS = 32;

type Make = (deps: object) => object;
interface Desk {
  admit(ask: EngineAsk): Promise<{ readonly kind: string }>;
  settle(organizationId: string, requestId: string, actual: object, record: string): void;
}

/** Settling requests under six limits whose records are written: what the process keeps of them, and the engine's call with its reply. */
export async function createSettlement(root: string): Promise<Part> {
  const redis = createTakingRedis();
  const desk = await createDesk(root, redis);
  const traffic = createTraffic(Date.now(), 1);
  let settlements: readonly ReturnType<typeof traffic.settlement>[] = [];
  return {
    warmUps: 700,
    async prepare() {
      const ids = Array.from({ length: REQUESTS }, () => randomUUIDv7());
      settlements = ids.map(traffic.settlement);
      // Redis is a function that takes every command immediately, so nothing waits for a shard's messages.
      const decisions = await Promise.all(ids.map((id) => desk.admit({ ...traffic.ask(id), waitMsMax: 0 })));
      if (decisions.some(({ kind }) => kind !== 'admitted')) throw new Error('a request was not admitted');
      await nextTurn();
    },
    async run() {
      const settled = redis.settled() + REQUESTS;
      for (const { organizationId, operationId, actual, record } of settlements)
        desk.settle(organizationId, operationId, actual, record);
      while (redis.settled() < settled) await nextTurn();
      await nextTurn();
    },
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Answers a batch as the script does in the common case: everything is settled and admitted. */
function createTakingRedis() {
  const windows = Array.from({ length: 64 }, () => 1);
  let settled = 0;
  return {
    settled: () => settled,
    run(command: readonly string[]): Promise<unknown> {
      if (command[0] !== 'FCALL') return Promise.resolve(null);
      const settles = Number(command[SETTLES_AT]);
      settled += settles;
      return Promise.resolve([
        'fast',
        Date.now(),
        1,
        ...Array.from({ length: settles }, () => 1),
        ...windows,
      ]);
    },
    subscribeShard: () => Promise.resolve(),
    shards: { use: () => undefined, list: () => Promise.resolve([]) },
  };
}

async function createDesk(root: string, redis: object): Promise<Desk> {
  const { createDesk: create } = await loadModule<{ createDesk(deps: object): Desk }>(
    root,
    'admission/desk.ts',
  );
  const { createRedisEngine } = await loadModule<{ createRedisEngine: Make }>(
    root,
    'admission/redis/engine.ts',
  );
  const { createScripts } = await loadModule<{ createScripts: Make }>(root, 'admission/redis/scripts.ts');
  const { createLocalCooldowns } = await loadModule<{ createLocalCooldowns: Make }>(
    root,
    'admission/local-cooldowns.ts',
  );
  const { systemClock: clock } = await loadModule<{ systemClock: object }>(root, 'kit/clock.ts');
  const { createLog } = await loadModule<{ createLog(level: string): object }>(root, 'kit/log.ts');
  const line = { released: () => undefined, next: () => undefined, missed: () => undefined };
  const channel = { announce: () => undefined, subscribe: () => undefined };
  return create({
    engine: createRedisEngine({
      scripts: createScripts(redis),
      gatewayId: 'bench',
      line,
      aside: { note: () => undefined },
    }),
    local: createLocalCooldowns({ clock, channel }),
    append: () => undefined,
    journal: { draft: () => undefined, settlement: () => undefined },
    openings: () => Promise.resolve([]),
    clock,
    log: createLog('silent'),
  });
}
