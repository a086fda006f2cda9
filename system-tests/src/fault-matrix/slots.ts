import type { WireProtocol } from '@relay/contract';
import type { ProviderSim } from '@relay/provider-sim';
import type { AdminClient } from '../harness/admin-client.ts';
import type { Bench } from './expectation.ts';

/** One endpoint: its name, and the key by which the provider recognizes it. */
export interface SlotEndpoint {
  readonly id: string;
  readonly name: string;
  readonly providerId: string;
  readonly upstreamModel: string;
  readonly key: string;
}

/** Two endpoints of two providers in two lanes, used by one cell at a time, so that cells cannot disturb one another. */
export interface Slot {
  readonly bench: Bench;
  /** What its endpoints speak. */
  readonly protocol: WireProtocol;
  readonly first: SlotEndpoint;
  readonly second: SlotEndpoint;
  /** Names double as the `model` of a request. */
  readonly laneWithFallback: { readonly id: string; readonly name: string };
  readonly laneWithout: { readonly id: string; readonly name: string };
  /** The first endpoint alone. */
  readonly laneOfFirst: { readonly id: string; readonly name: string };
}

export interface SlotPool {
  readonly firstProviderId: string;
  readonly secondProviderId: string;
  use<T>(bench: Bench, protocol: WireProtocol, work: (slot: Slot) => Promise<T>, restMs: number): Promise<T>;
}

export const FIRST_MODEL = 'model-first';
export const SECOND_MODEL = 'model-second';
const HURRIED_MS_MAX = 1_000;

export interface SlotSetup {
  readonly admin: AdminClient;
  readonly first: ProviderSim;
  readonly second: ProviderSim;
  /** A port that nothing listens on. */
  readonly closedPort: number;
  readonly counts: Readonly<Record<WireProtocol, Readonly<Record<Bench, number>>>>;
  /** Resolves when the first endpoint of a slot is not known to have failed. */
  readonly heal: (slot: Slot) => Promise<void>;
}

export async function createSlots(setup: SlotSetup): Promise<SlotPool> {
  const { admin } = setup;
  const [first, second, closed] = await Promise.all([
    createProvider(admin, 'First', setup.first.baseUrl),
    createProvider(admin, 'Second', setup.second.baseUrl),
    createProvider(admin, 'Closed', `http://127.0.0.1:${setup.closedPort}/v1`),
  ]);
  const wanted = (['openai', 'anthropic'] as const).flatMap((protocol) =>
    (Object.entries(setup.counts[protocol]) as [Bench, number][]).map(
      ([bench, count]) => [protocol, bench, count] as const,
    ),
  );
  const slots = await Promise.all(
    wanted.flatMap(([protocol, bench, count]) =>
      Array.from({ length: count }, async (_, index): Promise<Slot> => {
        const name = `${protocol}-${bench.replace(' ', '-')}-${index}`;
        const firstProvider = bench === 'closed port' ? closed : first;
        const limits = bench === 'hurried' ? { max_latency_ms: HURRIED_MS_MAX } : {};
        const [one, two] = await Promise.all([
          createEndpoint(admin, firstProvider, `${name} first`, FIRST_MODEL, { ...limits, protocol }),
          createEndpoint(admin, second, `${name} second`, SECOND_MODEL, { protocol }),
        ]);
        const [laneWithFallback, laneWithout, laneOfFirst] = await Promise.all([
          createLaneOf(admin, `${name}-fallback`, true, [one, two]),
          createLaneOf(admin, `${name}-alone`, false, [one, two]),
          createLaneOf(admin, `${name}-first`, false, [one]),
        ]);
        return { bench, protocol, first: one, second: two, laneWithFallback, laneWithout, laneOfFirst };
      }),
    ),
  );
  return { firstProviderId: first, secondProviderId: second, ...pool(slots, setup.heal) };
}

/** A slot is healed before it is used again: after three faults its first endpoint would be left out. */
function pool(slots: readonly Slot[], heal: SlotSetup['heal']): Pick<SlotPool, 'use'> {
  const used = new Set<Slot>();
  const free = [...slots];
  const waiting: { bench: Bench; protocol: WireProtocol; take: (slot: Slot) => void }[] = [];

  function take(bench: Bench, protocol: WireProtocol): Promise<Slot> {
    const index = free.findIndex((slot) => slot.bench === bench && slot.protocol === protocol);
    const [slot] = index < 0 ? [] : free.splice(index, 1);
    return slot === undefined
      ? new Promise((resolve) => waiting.push({ bench, protocol, take: resolve }))
      : Promise.resolve(slot);
  }

  function release(slot: Slot): void {
    const index = waiting.findIndex(
      ({ bench, protocol }) => bench === slot.bench && protocol === slot.protocol,
    );
    const [next] = index < 0 ? [] : waiting.splice(index, 1);
    if (next === undefined) free.push(slot);
    else next.take(slot);
  }

  return {
    async use(bench, protocol, work, restMs) {
      const slot = await take(bench, protocol);
      try {
        if (used.has(slot)) await heal(slot);
        used.add(slot);
        return await work(slot);
      } finally {
        if (restMs === 0) release(slot);
        else setTimeout(() => release(slot), restMs);
      }
    },
  };
}

async function createProvider(admin: AdminClient, name: string, baseUrl: string): Promise<string> {
  const body = { name, base_url: baseUrl, auth_mode: 'bearer_static', enabled: true };
  return (await admin.create('/api/relay/providers', body)).id;
}

/** An endpoint with a credential of its own, by which the simulated provider tells it from every other. */
export async function createEndpoint(
  admin: AdminClient,
  providerId: string,
  name: string,
  upstreamModel: string,
  more: Readonly<Record<string, unknown>>,
): Promise<SlotEndpoint> {
  const key = `sk-${name.replaceAll(' ', '-')}`;
  const credential = await admin.create('/api/relay/credentials', {
    provider_id: providerId,
    name,
    secret: key,
  });
  const endpoint = await admin.create('/api/relay/endpoints', {
    provider_id: providerId,
    credential_id: credential.id,
    name,
    upstream_model: upstreamModel,
    route_kind: 'multi',
    supports_streaming: true,
    enabled: true,
    ...more,
  });
  return { id: endpoint.id, name, providerId, upstreamModel, key };
}

export async function createLaneOf(
  admin: AdminClient,
  name: string,
  allowFallback: boolean,
  endpoints: readonly SlotEndpoint[],
  waitMsMax = 0,
): Promise<{ id: string; name: string }> {
  const lane = await admin.create('/api/relay/routing-lanes', {
    name,
    default_max_wait_ms: waitMsMax,
    allow_fallback: allowFallback,
    enabled: true,
  });
  for (const [index, endpoint] of endpoints.entries()) {
    await admin.create('/api/relay/lane-memberships', {
      lane_id: lane.id,
      endpoint_id: endpoint.id,
      manual_rank: index + 1,
      enabled: true,
    });
  }
  return { id: lane.id, name };
}
