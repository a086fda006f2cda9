import { randomBytes } from 'node:crypto';
import type { ConfigFile } from '@relay/contract';
import { type GuardrailSim, startGuardrailSim } from '@relay/provider-sim';
import { freePort } from '@relay/testbed';
import { type Accounts, openAccounts } from '../harness/accounts.ts';
import type { AdminClient } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { countedMetrics } from './limits.ts';
import { type BilledProvider, startBilledProvider } from './provider.ts';
import { deadKinds, type LaneKind } from './situations.ts';

/** Micro-USD for a token. Endpoints of other names have the first. */
export interface Price {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}
const PRICE: Price = { input: 2, cached: 1, output: 8 };
const PRICES: Readonly<Record<string, Price>> = { second: { input: 3, cached: 2, output: 11 } };
/** Of the tier whose base price is 0. */
const TIER: Price = { input: 5, cached: 5, output: 5 };

type Protocol = 'openai' | 'anthropic';
const PROTOCOLS: readonly Protocol[] = ['openai', 'anthropic'];
/** No window is ever full. */
const LIMIT = 4_000_000_000_000;

/** How long the provider may take. Longer than a busy machine, shorter than a few hundred situations. */
const UPSTREAM_MS_MAX = 800;
/** The longest that a request may take in all, so that one that is stuck ends. */
const LATENCY_MS_MAX = 20_000;

/** Lanes, endpoints, a member and keys of one worker, whose limits no other worker moves. */
export interface Bench {
  readonly name: string;
  /** The key of the situations. */
  readonly key: string;
  readonly keyId: string;
  readonly userId: string;
  /** Of another member: its requests show that an endpoint serves others. */
  readonly otherKey: string;
  readonly endpoints: ReadonlyMap<string, BenchEndpoint>;
  readonly lanes: ReadonlyMap<string, string>;
}

export interface BenchEndpoint {
  readonly id: string;
  readonly slug: string;
  readonly providerId: string;
  readonly price: Price;
}

export interface Site {
  readonly deployment: Deployment;
  readonly provider: BilledProvider;
  readonly benches: readonly Bench[];
  readonly organizationId: string;
  stop(): Promise<void>;
}

const dead = deadKinds.flatMap((kind) => [kind, `${kind}, followed` as const]);
/** Endpoints of a bench by protocol; the lanes that they are in, in order of rank. */
const LANES: readonly {
  readonly kind: LaneKind;
  readonly endpoints: readonly string[];
  readonly protocols: readonly Protocol[];
}[] = [
  { kind: 'single', endpoints: ['single'], protocols: PROTOCOLS },
  { kind: 'followed', endpoints: ['first', 'second'], protocols: PROTOCOLS },
  { kind: 'guarded after', endpoints: ['single'], protocols: PROTOCOLS },
  { kind: 'guarded before', endpoints: ['single'], protocols: PROTOCOLS },
  { kind: 'throttled', endpoints: ['throttled'], protocols: PROTOCOLS },
  { kind: 'free', endpoints: ['free'], protocols: PROTOCOLS },
  ...dead.map((kind) => ({
    kind,
    endpoints: kind.endsWith('followed') ? [kind, 'second'] : [kind],
    protocols: ['openai' as const],
  })),
];

const slugOf = (...parts: readonly string[]) =>
  parts
    .join('-')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-');

export const laneOf = (bench: Pick<Bench, 'name'>, kind: LaneKind, wire: string, hard: boolean) =>
  slugOf(bench.name, kind, wire === 'messages' ? 'anthropic' : 'openai', hard ? 'hard' : 'soft');

const endpointSlug = (bench: Pick<Bench, 'name'>, name: string, wire: string) =>
  slugOf(bench.name, name, wire === 'messages' ? 'anthropic' : 'openai');

export function endpointsOf(bench: Bench, kind: LaneKind, wire: string): readonly string[] {
  const lane = LANES.find((each) => each.kind === kind);
  return (lane?.endpoints ?? []).map((name) => endpointSlug(bench, name, wire));
}

export async function startSite(workers: number): Promise<Site> {
  const authSecret = randomBytes(32).toString('base64url');
  const [deployment, provider, guardrails] = await Promise.all([
    startDeployment({
      env: {
        RELAY_ACCOUNTS: 'true',
        RELAY_AUTH_SECRET: authSecret,
        RELAY_UPSTREAM_HEADERS_TIMEOUT_MS: String(UPSTREAM_MS_MAX),
        RELAY_UPSTREAM_IDLE_TIMEOUT_MS: String(UPSTREAM_MS_MAX),
      },
      stores: 'servers',
    }),
    startBilledProvider(),
    startGuardrailSim({ serviceKey: 'unused' }),
  ]);
  const accounts = openAccounts({ databaseUrl: deployment.postgres.url, authSecret });
  try {
    const account = await deployment.admin.call('GET', '/api/account');
    const organizationId = (account.body as { org: { id: string } }).org.id;
    const names = Array.from({ length: workers }, (_, index) => `w${index}`);
    // While there is little to configure: each change is loaded with all that there is.
    const callers: Callers[] = [];
    for (const _name of names) callers.push(await addCallers(deployment.admin, accounts, organizationId));
    await applyConfig(deployment.admin, names, provider, guardrails, await freePort());
    const ids = await readIds(deployment.admin);
    const benches = names.map((name, index) => benchOf(name, callers[index], ids));
    await deployment.everywhere();
    return {
      deployment,
      provider,
      benches,
      organizationId,
      async stop() {
        await accounts.close();
        await deployment.stop();
        await Promise.all([provider.close(), guardrails.close()]);
      },
    };
  } catch (error) {
    await accounts.close();
    await deployment.stop();
    await Promise.all([provider.close(), guardrails.close()]);
    throw error;
  }
}

type Sections = { [K in keyof Omit<ConfigFile, 'version'>]-?: NonNullable<ConfigFile[K]> };

async function applyConfig(
  admin: AdminClient,
  names: readonly string[],
  provider: BilledProvider,
  guardrails: GuardrailSim,
  closedPort: number,
): Promise<void> {
  const sections: Sections = {
    providers: [],
    credentials: [],
    endpoints: [],
    lanes: [],
    memberships: [],
    pricing_policies: [],
    limit_policies: countedMetrics.map((metric) => ({
      scope_type: 'global' as const,
      metric,
      period: 'day' as const,
      limit_value: LIMIT,
    })),
    guardrails: [
      {
        name: 'before',
        base_url: guardrails.urlOf('block', 'before'),
        enabled: true,
        pre_dispatch_enabled: true,
        post_response_enabled: false,
      },
      {
        name: 'after',
        base_url: guardrails.urlOf('block', 'after'),
        enabled: true,
        pre_dispatch_enabled: false,
        post_response_enabled: true,
      },
    ],
    guardrail_bindings: [],
  };
  const secrets: Record<string, string> = {};
  const urls: Readonly<Record<string, string>> = {
    'closed-port': `http://127.0.0.1:${closedPort}/v1`,
    'unknown-host': 'http://books.invalid/v1',
    'no-tls': `https://127.0.0.1:${provider.port}/v1`,
  };
  for (const name of names)
    for (const { kind, endpoints, protocols } of LANES)
      for (const protocol of protocols) {
        for (const endpoint of endpoints) {
          const slug = slugOf(name, endpoint, protocol);
          if (sections.endpoints.some((each) => each.name === slug)) continue;
          const dead = Object.entries(urls).find(([prefix]) => slugOf(endpoint).startsWith(prefix));
          addEndpoint(sections, secrets, slug, endpoint, protocol, dead?.[1] ?? provider.urlOf(slug));
        }
        for (const hard of [false, true]) addLane(sections, { name, kind, endpoints, protocol, hard });
      }
  const applied = await admin.call('POST', '/api/relay/config/apply', {
    config: { version: 1, ...sections },
    secrets,
  });
  if (applied.status !== 200) throw new Error(`the file was refused: ${JSON.stringify(applied.body)}`);
}

const perMillion = ({ input, cached, output }: Price) => ({
  input_cost_micros_per_1m_tokens: input * 1_000_000,
  cached_input_cost_micros_per_1m_tokens: cached * 1_000_000,
  output_cost_micros_per_1m_tokens: output * 1_000_000,
});

const priceOf = (name: string) => (name === 'free' ? TIER : (PRICES[name] ?? PRICE));

function addEndpoint(
  sections: Sections,
  secrets: Record<string, string>,
  slug: string,
  name: string,
  protocol: Protocol,
  base_url: string,
): void {
  const ref = `env:${slug.replaceAll('-', '_')}`;
  secrets[ref] = `sk-${slug}`;
  sections.providers.push({ name: slug, base_url });
  sections.credentials.push({ provider: slug, name: 'key', secret_ref: ref });
  sections.endpoints.push({
    name: slug,
    provider: slug,
    upstream_model: 'played-model',
    route_kind: 'multi',
    protocol,
    max_latency_ms: LATENCY_MS_MAX,
  });
  const price = perMillion(priceOf(name));
  sections.pricing_policies.push(
    name === 'free'
      ? {
          endpoint: slug,
          ...perMillion({ input: 0, cached: 0, output: 0 }),
          variants: [{ service_tier: 'priority', ...price }],
        }
      : { endpoint: slug, ...price },
  );
  const isDead = deadKinds.some((kind) => name.startsWith(kind));
  for (const scope_type of isDead ? (['endpoint'] as const) : (['endpoint', 'provider'] as const))
    for (const metric of countedMetrics)
      sections.limit_policies.push({ scope_type, scope: slug, metric, period: 'day', limit_value: LIMIT });
}

function addLane(
  sections: Sections,
  lane: { name: string; kind: LaneKind; endpoints: readonly string[]; protocol: Protocol; hard: boolean },
): void {
  const { name, kind, endpoints, protocol, hard } = lane;
  const slug = slugOf(name, kind, protocol, hard ? 'hard' : 'soft');
  sections.lanes.push({ name: slug, default_max_wait_ms: 5_000, allow_fallback: true });
  for (const [index, endpoint] of endpoints.entries())
    sections.memberships.push({
      lane: slug,
      endpoint: slugOf(name, endpoint, protocol),
      manual_rank: index + 1,
    });
  for (const metric of countedMetrics)
    sections.limit_policies.push({
      scope_type: 'lane',
      scope: slug,
      metric,
      period: 'day',
      limit_value: LIMIT,
      ...(hard && metric !== 'requests' ? { enforcement: 'hard' as const } : {}),
    });
  if (kind === 'guarded after' || kind === 'guarded before')
    sections.guardrail_bindings.push({
      guardrail: kind === 'guarded after' ? 'after' : 'before',
      target_type: 'lane',
      target: slug,
    });
}

interface Ids {
  readonly lanes: ReadonlyMap<string, string>;
  readonly endpoints: ReadonlyMap<string, { readonly id: string; readonly provider_id: string }>;
}

async function readIds(admin: AdminClient): Promise<Ids> {
  const list = async <T extends { readonly name: string }>(path: string) => {
    const { body } = await admin.call('GET', `/api/relay/${path}`);
    return new Map((body as T[]).map((each) => [each.name, each]));
  };
  const lanes = await list<{ name: string; id: string }>('routing-lanes');
  return {
    lanes: new Map([...lanes].map(([name, { id }]) => [name, id])),
    endpoints: await list<{ name: string; id: string; provider_id: string }>('endpoints'),
  };
}

type Callers = Pick<Bench, 'key' | 'keyId' | 'userId' | 'otherKey'>;

async function addCallers(admin: AdminClient, accounts: Accounts, organizationId: string): Promise<Callers> {
  const add = async () => {
    const userId = await accounts.addMember(organizationId, { role: 'developer' });
    return { userId, ...(await accounts.addKey({ organizationId, userId, scopes: ['relay:request'] })) };
  };
  const [own, other] = [await add(), await add()];
  for (const metric of countedMetrics) {
    const limit = { target_type: 'global', metric, period: 'day', limit_value: LIMIT };
    for (const [path, subject] of [
      ['api-key-limit-policies', { api_key_uuid: own.id }],
      ['pro/user-limit-policies', { user_uuid: own.userId }],
    ] as const) {
      const { status, body } = await admin.call('POST', `/api/relay/${path}`, { ...subject, ...limit });
      if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    }
  }
  return { userId: own.userId, key: own.key, keyId: own.id, otherKey: other.key };
}

function benchOf(name: string, callers: Callers | undefined, ids: Ids): Bench {
  if (callers === undefined) throw new Error(`${name} has no callers`);
  const mine = <T>(list: ReadonlyMap<string, T>) => [...list].filter(([slug]) => slug.startsWith(`${name}-`));
  return {
    name,
    ...callers,
    lanes: new Map(mine(ids.lanes)),
    endpoints: new Map(
      mine(ids.endpoints).map(([slug, { id, provider_id }]) => {
        const kind = slug.slice(name.length + 1).replace(/-(openai|anthropic)$/, '');
        return [slug, { id, slug, providerId: provider_id, price: priceOf(kind) }];
      }),
    ),
  };
}
