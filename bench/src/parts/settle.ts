import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { loadModule } from '../checkouts/load-module.ts';
import { LANE, UPSTREAM_MODEL } from '../gateways/gateway.ts';
import type { EngineAsk } from '../limits/engine-of-checkout.ts';
import { createTraffic } from '../limits/organization-traffic.ts';
import { PRICE } from '../limits/policies.ts';
import type { Part } from './part.ts';

/** Of a call's command: after the function, its key, the time, the gateway, the way and the number of organizations. */
const SETTLES_AT = 8;
/** As many as come together in one call of a busy gateway. */
const REQUESTS = 24;
/** The compiler needs so many until it is done with this path. */
const WARM_UPS = 1_500;
const USAGE = { inputTokens: 210, outputTokens: 180, cachedInputTokens: 0 };

const PRICING = {
  inputCostMicrosPer1mTokens: PRICE.inputMicros,
  outputCostMicrosPer1mTokens: PRICE.outputMicros,
  cachedInputCostMicrosPer1mTokens: null,
  flatRequestCostMicros: 0,
};

type Make = (...parts: never[]) => object;
interface Desk {
  admit(ask: EngineAsk): Promise<{ readonly kind: string }>;
}
type Settle = (deps: object, exchange: object, routed: object, ending: object) => void;
interface Snapshot {
  readonly organizationId: string;
}

/**
 * Settling requests under six limits: the records and their texts, the settlements, and the engine's call with its reply. Redis is a function
 * that takes every command at once. The requests are admitted before.
 */
export async function createSettle(root: string): Promise<Part> {
  const { settle } = await loadModule<{ settle: Settle }>(root, 'inference/settle/settle.ts');
  const { systemClock: clock } = await loadModule<{
    systemClock: { nowMs(): number; monotonicMs(): number };
  }>(root, 'kit/clock.ts');
  const log = (await loadModule<{ createLog(level: string): object }>(root, 'kit/log.ts')).createLog(
    'silent',
  );
  const redis = createTakingRedis();
  const desk = await createDesk(root, redis, clock, log);
  const traffic = createTraffic(Date.now(), 1);
  const exchangeOf = await createExchanges(root, traffic.organizationId, clock);
  const deps = { desk, clock, log };
  const routed = { estimate: { inputTokens: 233, outputTokens: 256 } };
  let exchanges: readonly object[] = [];
  return {
    warmUps: WARM_UPS,
    async prepare() {
      const ids = Array.from({ length: REQUESTS }, () => randomUUIDv7());
      exchanges = ids.map(exchangeOf);
      const decisions = await Promise.all(ids.map((id) => desk.admit({ ...traffic.ask(id), waitMsMax: 0 })));
      if (decisions.some(({ kind }) => kind !== 'admitted')) throw new Error('a request was not admitted');
      await nextTurn();
    },
    async run() {
      const settled = redis.settled() + REQUESTS;
      for (const exchange of exchanges) settle(deps, exchange, routed, endingAt(clock.monotonicMs()));
      while (redis.settled() < settled) await nextTurn();
      await nextTurn();
    },
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function endingAt(firstByteMs: number): object {
  return { state: 'completed', status: 200, cause: null, usage: USAGE, streamedTokens: 0, firstByteMs };
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

async function createDesk(root: string, redis: object, clock: object, log: object): Promise<Desk> {
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
  const line = { released: () => undefined, next: () => undefined, missed: () => undefined };
  const channel = { announce: () => undefined, subscribe: () => undefined };
  const made = <T extends object>(make: Make, deps: T) => (make as (deps: T) => object)(deps);
  return create({
    engine: made(createRedisEngine, {
      scripts: made(createScripts, redis),
      gatewayId: 'bench',
      line,
      aside: { note: () => undefined },
    }),
    local: made(createLocalCooldowns, { clock, channel }),
    append: () => undefined,
    journal: { draft: () => undefined, settlement: () => undefined },
    openings: () => Promise.resolve([]),
    clock,
    log,
  });
}

/** What the pipeline knows of a request that one endpoint answered. */
async function createExchanges(
  root: string,
  organizationId: string,
  clock: { nowMs(): number; monotonicMs(): number },
): Promise<(requestId: string) => object> {
  const fixture = await loadModule<{
    snapshot(parts: object): Snapshot;
    provider(id: string): object;
    endpoint(id: string, providerId: string, model: string): object;
    lane(id: string, over: object): object;
    member(laneId: string, endpointId: string, rank: number): object;
    credential(id: string, providerId: string): object;
  }>(root, 'domain/snapshot.fixture.ts');
  const { routingTableOf } = await loadModule<{
    routingTableOf(snapshot: Snapshot): { resolve(model: string): object | undefined };
  }>(root, 'domain/routing/routing.ts');
  const { openaiChat } = await loadModule<{ openaiChat: object }>(root, 'protocols/openai-chat/index.ts');
  const [providerId, endpointId, laneId, credentialId] = [1, 2, 3, 4].map(() => randomUUID()) as [
    string,
    string,
    string,
    string,
  ];
  const snapshot = {
    ...fixture.snapshot({
      providers: [fixture.provider(providerId)],
      endpoints: [fixture.endpoint(endpointId, providerId, UPSTREAM_MODEL)],
      lanes: [fixture.lane(laneId, { name: LANE, slug: LANE })],
      memberships: [fixture.member(laneId, endpointId, 1)],
      credentials: [fixture.credential(credentialId, providerId)],
      pricing: new Map([[endpointId, PRICING]]),
    }),
    organizationId,
  };
  const route = routingTableOf(snapshot).resolve(LANE);
  const caller = { organizationId, userId: randomUUID(), keyId: randomUUID(), keyPolicies: [] };
  return (requestId) => {
    const startMs = clock.monotonicMs();
    const attempt = { endpointId, providerId, upstreamModel: UPSTREAM_MODEL, startedMs: 1, waitMs: 0 };
    return {
      requestId,
      clientRequestId: null,
      protocol: openaiChat,
      caller,
      snapshot,
      arrivedAtMs: clock.nowMs(),
      startMs,
      trace: null,
      model: LANE,
      streaming: false,
      route,
      guard: { snapshot, shown: null, verdicts: [], tookMs: null },
      marks: { receivedMs: startMs, routedMs: startMs, admitMs: 1.2, upstreamFirstByteMs: 11.4 },
      decisions: { bound: null, awaited: null, refused: null, skipped: [], probed: null },
      attempts: [{ ...attempt, status: 200, outcome: 'completed', cause: null, latencyMs: 12 }],
      credentialId,
      presetSlug: null,
      reservation: null,
      reportedUsage: null,
      waitMs: 0,
      upstreamMs: 11.5,
    };
  };
}
