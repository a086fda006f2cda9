import type { LimitMetric, LimitPeriod } from '@relay/contract';
import { type Api, dataOf } from '../api/client.ts';
import type { CreatedObjects } from './demo-state.ts';

export const DEMO_LANE = 'demo';
export const GUARDED_LANE = 'demo-guarded';
/** The models of the simulated provider. */
export const LARGE_MODEL = 'demo-large';
export const SMALL_MODEL = 'demo-small';

/** The URLs of the simulated provider and its guardrail. */
export interface DemoAddresses {
  readonly provider: string;
  readonly guardrail: string;
}

const USD = 1_000_000;

type Management = Api['management'];

/**
 * Creates two priced endpoints, a lane with fallback, a second lane with a guardrail, and limits. Keeps existing
 * resources, so that an interrupted start can continue.
 */
export async function createDemoObjects(api: Management, at: DemoAddresses): Promise<CreatedObjects> {
  const north = await provider(api, 'Demo North', at.provider);
  const south = await provider(api, 'Demo South', at.provider);
  const large = await endpoint(api, north, 'Demo large', LARGE_MODEL, { input: 2.5 * USD, output: 10 * USD });
  const small = await endpoint(api, south, 'Demo small', SMALL_MODEL, {
    input: 0.15 * USD,
    output: 0.6 * USD,
  });
  const plain = await lane(api, 'Demo', 'Falls back from Demo large to Demo small.', [large, small]);
  const guarded = await lane(api, 'Demo guarded', 'Like Demo, with a guardrail.', [large, small]);
  const guardrailId = await guardrail(api, at.guardrail, guarded);
  await limit(api, {
    // Not global: it would reject requests to a provider that is added later and has no price.
    scope_type: 'lane',
    scope_id: plain,
    metric: 'spend',
    period: 'day',
    limit_value: 5 * USD,
  });
  await limit(api, {
    scope_type: 'lane',
    scope_id: plain,
    metric: 'concurrency',
    period: 'none',
    limit_value: 20,
  });
  await limit(api, {
    scope_type: 'endpoint',
    scope_id: large,
    metric: 'requests',
    period: 'second',
    limit_value: 4,
  });
  await limit(api, {
    scope_type: 'endpoint',
    scope_id: small,
    metric: 'tokens',
    period: 'minute',
    limit_value: 60_000,
  });
  return { provider_ids: [north, south], guardrail_id: guardrailId };
}

/** The ports changed since the last start, so stored URLs must be updated. */
export async function moveDemoObjects(
  api: Management,
  created: CreatedObjects,
  at: DemoAddresses,
): Promise<void> {
  const providers = await dataOf(api.GET('/api/relay/providers'));
  for (const { id, name } of providers.filter((each) => created.provider_ids.includes(each.id))) {
    // Relay drops the secret when a provider's URL changes, so it is set again.
    const credentials = await dataOf(api.GET('/api/relay/credentials'));
    for (const credential of credentials.filter((each) => each.provider_id === id)) {
      const params = { path: { credential_id: credential.id } };
      await api.DELETE('/api/relay/credentials/{credential_id}', { params });
    }
    const params = { path: { provider_id: id } };
    await dataOf(api.PUT('/api/relay/providers/{provider_id}', { params, body: { base_url: at.provider } }));
    await dataOf(api.POST('/api/relay/credentials', { body: credentialOf(id, name) }));
  }
  const guardrails = await dataOf(api.GET('/api/relay/guardrails'));
  for (const { id } of guardrails.filter((each) => each.id === created.guardrail_id)) {
    const params = { path: { guardrail_id: id } };
    await dataOf(
      api.PUT('/api/relay/guardrails/{guardrail_id}', { params, body: { base_url: at.guardrail } }),
    );
  }
}

async function provider(api: Management, name: string, address: string): Promise<string> {
  const known = await dataOf(api.GET('/api/relay/providers'));
  const found = known.find((each) => each.name === name);
  const body = { name, base_url: address, auth_mode: 'bearer_static' } as const;
  const { id, has_credential } = found ?? (await dataOf(api.POST('/api/relay/providers', { body })));
  if (!has_credential) await dataOf(api.POST('/api/relay/credentials', { body: credentialOf(id, name) }));
  return id;
}

/** The simulated provider accepts any key. */
function credentialOf(providerId: string, providerName: string) {
  const secret = `sk-${providerName.toLowerCase().replaceAll(' ', '-')}`;
  return { provider_id: providerId, name: 'demo', secret };
}

async function endpoint(
  api: Management,
  providerId: string,
  name: string,
  model: string,
  price: { readonly input: number; readonly output: number },
): Promise<string> {
  const known = await dataOf(api.GET('/api/relay/endpoints'));
  const found = known.find((each) => each.name === name);
  const body = { provider_id: providerId, name, upstream_model: model, route_kind: 'multi' } as const;
  const { id } = found ?? (await dataOf(api.POST('/api/relay/endpoints', { body })));
  const prices = await dataOf(api.GET('/api/relay/pricing-policies'));
  if (!prices.some((each) => each.endpoint_id === id)) {
    const policy = {
      endpoint_id: id,
      input_cost_micros_per_1m_tokens: price.input,
      output_cost_micros_per_1m_tokens: price.output,
    };
    await dataOf(api.POST('/api/relay/pricing-policies', { body: policy }));
  }
  return id;
}

/** Endpoints by rank. */
async function lane(
  api: Management,
  name: string,
  description: string,
  endpointIds: readonly string[],
): Promise<string> {
  const known = await dataOf(api.GET('/api/relay/routing-lanes'));
  const found = known.find((each) => each.name === name);
  const body = { name, description, default_max_wait_ms: 5_000, allow_fallback: true };
  const { id } = found ?? (await dataOf(api.POST('/api/relay/routing-lanes', { body })));
  const memberships = await dataOf(api.GET('/api/relay/lane-memberships'));
  for (const [index, endpointId] of endpointIds.entries()) {
    if (memberships.some((each) => each.lane_id === id && each.endpoint_id === endpointId)) continue;
    const membership = { lane_id: id, endpoint_id: endpointId, manual_rank: index + 1 };
    await dataOf(api.POST('/api/relay/lane-memberships', { body: membership }));
  }
  return id;
}

/** Binds the guardrail before enabling it, so that it never checks other requests. */
async function guardrail(api: Management, address: string, laneId: string): Promise<string> {
  const name = 'Demo word filter';
  const known = await dataOf(api.GET('/api/relay/guardrails'));
  const found = known.find((each) => each.name === name);
  const body = { name, preset_slug: 'custom-http', base_url: address, timeout_ms: 2_000 };
  const { id, enabled } = found ?? (await dataOf(api.POST('/api/relay/guardrails', { body })));
  const params = { path: { guardrail_id: id } };
  const bindings = [{ target_type: 'lane' as const, target_id: laneId }];
  await dataOf(api.PUT('/api/relay/guardrails/{guardrail_id}/bindings', { params, body: { bindings } }));
  if (!enabled) {
    await dataOf(api.PUT('/api/relay/guardrails/{guardrail_id}', { params, body: { enabled: true } }));
  }
  return id;
}

interface Limit {
  readonly scope_type: 'global' | 'endpoint' | 'lane';
  readonly scope_id: string | null;
  readonly metric: LimitMetric;
  readonly period: LimitPeriod;
  readonly limit_value: number;
}

async function limit(api: Management, wanted: Limit): Promise<void> {
  const known = await dataOf(api.GET('/api/relay/limit-policies'));
  const isThere = known.some(
    (each) =>
      each.scope_type === wanted.scope_type &&
      each.scope_id === wanted.scope_id &&
      each.metric === wanted.metric &&
      each.period === wanted.period,
  );
  if (!isThere) await dataOf(api.POST('/api/relay/limit-policies', { body: wanted }));
}
