import type { ConfigFile, WireProtocol } from '@relay/contract';
import type { AdminClient } from '../harness/admin-client.ts';
import type { Who } from './cells.ts';
import type { Bench } from './expectation.ts';
import { newKey } from './quotes.ts';

/** A lane and endpoints for one cell, because failures count against an endpoint. */
export interface PlaceSetup {
  readonly bench: Bench;
  /** What the endpoints speak. */
  readonly protocol: WireProtocol;
  readonly members: readonly Who[];
  readonly allowFallback: boolean;
  readonly waitMsMax: number;
  /** A guardrail inspects answers. */
  readonly guarded: boolean;
  /** The first endpoint has prices. */
  readonly priced: boolean;
  /** A limit counts the lane's tokens. */
  readonly limited: boolean;
}

export interface PlaceEndpoint {
  readonly id: string;
  readonly name: string;
  readonly provider: Bench | Who;
  readonly providerId: string;
  readonly upstreamModel: string;
  /** By which the provider recognizes it. */
  readonly key: string;
}

export interface Place {
  /** Its name is the `model` of a request. */
  readonly lane: { readonly id: string; readonly name: string };
  readonly first: PlaceEndpoint;
  readonly second: PlaceEndpoint;
}

interface Addresses {
  readonly first: string;
  readonly second: string;
  /** A port that nothing listens on. */
  readonly closedPort: number;
  /** A guardrail that allows everything. */
  readonly inspector: string;
}

export const MODELS = { first: 'model-first', second: 'model-second' } as const;
export const WAIT_MS_MAX = 3_000;
const HURRIED_MS_MAX = 1_000;
/** A file may have a mebibyte. */
const PLACES_PER_FILE = 400;
/** Micro-dollars per token. */
export const PRICE = { input: 1, output: 4 } as const;

type Sections = { [K in keyof Omit<ConfigFile, 'version'>]-?: NonNullable<ConfigFile[K]> };

/** Creates all places, in the order of their setups. */
export async function createPlaces(
  admin: AdminClient,
  addresses: Addresses,
  setups: readonly PlaceSetup[],
): Promise<Place[]> {
  const keys = setups.map(() => ({ first: newKey(), second: newKey() }));
  for (let from = 0; from < setups.length; from += PLACES_PER_FILE) {
    const sections = sectionsOf(addresses);
    const secrets: Record<string, string> = {};
    for (const [at, setup] of setups.slice(from, from + PLACES_PER_FILE).entries()) {
      const index = from + at;
      addPlace(sections, index, setup);
      for (const who of setup.members) secrets[secretRef(index, who)] = keys[index]?.[who] ?? '';
    }
    const config = { version: 1, ...sections };
    const applied = await admin.call('POST', '/api/relay/config/apply', { config, secrets });
    if (applied.status !== 200) throw new Error(`the file was refused: ${JSON.stringify(applied.body)}`);
  }
  const [lanes, endpoints] = [await idsOf(admin, 'routing-lanes'), await idsOf(admin, 'endpoints')];
  const providers = await idsOf(admin, 'providers');
  const missing = { id: '', provider_id: '' };
  return setups.map((setup, index) => {
    const endpointOf = (who: Who): PlaceEndpoint => {
      const name = `c${index}-${who}`;
      const { id } = endpoints.get(name) ?? missing;
      const provider = providerOf(setup, who);
      const providerId = providers.get(provider)?.id ?? '';
      return { id, name, provider, providerId, upstreamModel: MODELS[who], key: keys[index]?.[who] ?? '' };
    };
    const lane = { id: lanes.get(`c${index}`)?.id ?? '', name: `c${index}` };
    return { lane, first: endpointOf('first'), second: endpointOf('second') };
  });
}

const secretRef = (index: number, who: Who) => `env:c${index}_${who}`;
const slugOf = (name: string) => name.replace(' ', '-');

function providerOf({ bench }: PlaceSetup, who: Who): Bench | Who {
  return who === 'first' && (bench === 'closed port' || bench === 'unknown host') ? bench : who;
}

async function idsOf({ call }: AdminClient, path: string): Promise<Map<string, { readonly id: string }>> {
  const { body } = await call('GET', `/api/relay/${path}`);
  return new Map((body as { id: string; name: string }[]).map((each) => [each.name, each]));
}

function sectionsOf(addresses: Addresses): Sections {
  const urls = {
    first: addresses.first,
    second: addresses.second,
    'closed port': `http://127.0.0.1:${addresses.closedPort}/v1`,
    'unknown host': 'http://fault-matrix.invalid/v1',
  };
  const inspector = { name: 'inspector', base_url: addresses.inspector, enabled: true };
  return {
    providers: Object.entries(urls).map(([name, base_url]) => ({ name, base_url })),
    credentials: [],
    endpoints: [],
    lanes: [],
    memberships: [],
    pricing_policies: [],
    limit_policies: [],
    guardrails: [{ ...inspector, pre_dispatch_enabled: false, post_response_enabled: true }],
    guardrail_bindings: [],
  };
}

function addPlace(sections: Sections, index: number, setup: PlaceSetup): void {
  const { bench, protocol, members, allowFallback, waitMsMax, guarded, priced, limited } = setup;
  const lane = `c${index}`;
  sections.lanes.push({
    name: lane,
    default_max_wait_ms: waitMsMax,
    allow_fallback: allowFallback,
    // Longer than any deadline of a row: the suite `stream-times` tests how a hold ends.
    hold_ms: 60_000,
  });
  if (guarded)
    sections.guardrail_bindings.push({ guardrail: 'inspector', target_type: 'lane', target: lane });
  for (const [rank, who] of members.entries()) {
    const name = `${lane}-${who}`;
    const provider = slugOf(providerOf(setup, who));
    const bounds = who === 'first' && bench === 'hurried' ? { max_latency_ms: HURRIED_MS_MAX } : {};
    sections.credentials.push({ provider, name, secret_ref: secretRef(index, who) });
    const shape = { protocol, upstream_model: MODELS[who], route_kind: 'multi' } as const;
    sections.endpoints.push({ name, provider, credential: name, ...shape, ...bounds });
    sections.memberships.push({ lane, endpoint: name, manual_rank: rank + 1 });
  }
  if (priced)
    sections.pricing_policies.push({
      endpoint: `${lane}-first`,
      input_cost_micros_per_1m_tokens: PRICE.input * 1_000_000,
      output_cost_micros_per_1m_tokens: PRICE.output * 1_000_000,
    });
  if (!limited) return;
  const counted = { metric: 'tokens', period: 'day', limit_value: Number.MAX_SAFE_INTEGER } as const;
  sections.limit_policies.push({ scope_type: 'lane', scope: lane, ...counted });
}
