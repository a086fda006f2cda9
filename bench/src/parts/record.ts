import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { loadModule } from '../checkouts/load-module.ts';
import { LANE, UPSTREAM_MODEL } from '../gateways/gateway.ts';
import { PRICE } from '../limits/policies.ts';
import type { Part } from './part.ts';

const REQUESTS = 32;
const USAGE = { inputTokens: 210, outputTokens: 180, cachedInputTokens: 0 };
const ESTIMATE = { inputTokens: 233, outputTokens: 256 };
const PRICING = {
  inputCostMicrosPer1mTokens: PRICE.inputMicros,
  outputCostMicrosPer1mTokens: PRICE.outputMicros,
  cachedInputCostMicrosPer1mTokens: null,
  flatRequestCostMicros: 0,
};

interface Clock {
  nowMs(): number;
  monotonicMs(): number;
}
interface SettleModule {
  settle(deps: object, exchange: object, routed: object, ending: object): void;
}

/** The records of answered requests: usage, cost, times, the decisions, and the text of it all. */
export async function createRecord(root: string): Promise<Part> {
  const { settle } = await loadModule<SettleModule>(root, 'inference/settle/settle.ts');
  const { systemClock: clock } = await loadModule<{ systemClock: Clock }>(root, 'kit/clock.ts');
  const exchangeOf = await createExchanges(root, clock);
  let characters = 0;
  const desk = {
    settle(_organizationId: string, _requestId: string, _actual: object, record: string) {
      characters += record.length;
    },
  };
  let exchanges: readonly object[] = [];
  return {
    warmUps: 700,
    prepare() {
      exchanges = Array.from({ length: REQUESTS }, () => exchangeOf(randomUUIDv7()));
      return Promise.resolve();
    },
    run() {
      const before = characters;
      for (const exchange of exchanges)
        settle({ desk, clock }, exchange, { estimate: ESTIMATE }, endingAt(clock.monotonicMs()));
      if (characters === before) throw new Error('nothing was recorded');
    },
  };
}

function endingAt(firstByteMs: number): object {
  return { state: 'completed', status: 200, cause: null, usage: USAGE, streamedTokens: 0, firstByteMs };
}

/** What the pipeline knows of a request that one endpoint answered. */
async function createExchanges(root: string, clock: Clock): Promise<(requestId: string) => object> {
  const fixture = await loadModule<{
    snapshot(parts: object): object;
    provider(id: string): object;
    endpoint(id: string, providerId: string, model: string): object;
    lane(id: string, over: object): object;
    member(laneId: string, endpointId: string, rank: number): object;
    credential(id: string, providerId: string): object;
  }>(root, 'domain/snapshot.fixture.ts');
  const { routingTableOf } = await loadModule<{
    routingTableOf(snapshot: object): { resolve(model: string): object | undefined };
  }>(root, 'domain/routing/routing.ts');
  const { openaiChat } = await loadModule<{ openaiChat: object }>(root, 'protocols/openai-chat/index.ts');
  const organizationId = randomUUIDv7();
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
