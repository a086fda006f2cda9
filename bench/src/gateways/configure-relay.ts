import { LIMIT_VALUE, POLICIES, PRICE } from '../limits/policies.ts';
import { LANE, UPSTREAM_MODEL } from './gateway.ts';

export interface RelaySetup {
  /** Endpoints of the one lane, all of the same upstream. */
  readonly candidates: number;
  /** Whether the policies of the bench are in force. */
  readonly limited: boolean;
  /** One guardrail at the upstream's address: none at all, enabled but bound to nothing, or bound to everything. */
  readonly guardrail?: 'none' | 'unbound' | 'bound';
}

type Create = (resource: string, body: unknown) => Promise<string>;
type Put = (resource: string, body: unknown) => Promise<void>;

/** Creates one minimal lane, and the requested limits. */
export async function configureRelay(
  url: string,
  adminToken: string,
  upstreamUrl: string,
  { candidates, limited, guardrail = 'none' }: RelaySetup,
): Promise<void> {
  const send = async (method: 'POST' | 'PUT', resource: string, body: unknown) => {
    const response = await fetch(`${url}/api/relay/${resource}`, {
      method,
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${resource} answered ${response.status}: ${text}`);
    return JSON.parse(text) as { id: string };
  };
  const create: Create = async (resource, body) => (await send('POST', resource, body)).id;
  const put: Put = async (resource, body) => void (await send('PUT', resource, body));
  const providerId = await create('providers', {
    name: 'Upstream',
    base_url: upstreamUrl,
    auth_mode: 'bearer_static',
    enabled: true,
  });
  await create('credentials', { provider_id: providerId, name: 'primary', secret: 'sk-upstream' });
  const laneId = await create('routing-lanes', {
    name: LANE,
    default_max_wait_ms: 5_000,
    allow_fallback: true,
    enabled: true,
  });
  const endpointIds: string[] = [];
  for (let rank = 1; rank <= candidates; rank += 1)
    endpointIds.push(await addEndpoint(create, providerId, laneId, rank));
  if (limited) await addLimits(create, endpointIds);
  if (guardrail !== 'none') await addGuardrail(create, put, upstreamUrl, guardrail === 'bound');
}

/** The upstream returns one response for everything, so the guardrail's rules match its chat response. */
async function addGuardrail(create: Create, put: Put, upstreamUrl: string, bound: boolean): Promise<void> {
  const id = await create('guardrails', {
    name: 'Local',
    preset_slug: 'custom-http',
    base_url: `${upstreamUrl}/judge`,
    pre_dispatch_enabled: true,
    response_rules: [
      { path: '$.object', operator: 'equals', value: 'chat.completion', action: 'allow' },
      { path: '$', operator: 'exists', action: 'block' },
    ],
  });
  await put(`guardrails/${id}`, { enabled: true });
  if (bound) await put(`guardrails/${id}/bindings`, { bindings: [{ target_type: 'global' }] });
}

async function addEndpoint(
  create: Create,
  providerId: string,
  laneId: string,
  rank: number,
): Promise<string> {
  const endpointId = await create('endpoints', {
    provider_id: providerId,
    name: `Upstream chat ${rank}`,
    upstream_model: UPSTREAM_MODEL,
    route_kind: 'multi',
    supports_streaming: true,
    enabled: true,
  });
  await create('lane-memberships', {
    lane_id: laneId,
    endpoint_id: endpointId,
    manual_rank: rank,
    enabled: true,
  });
  return endpointId;
}

/** Adds prices too, because spend limits count only priced requests. */
async function addLimits(create: Create, endpointIds: readonly string[]): Promise<void> {
  for (const endpointId of endpointIds) {
    await create('pricing-policies', {
      endpoint_id: endpointId,
      input_cost_micros_per_1m_tokens: PRICE.inputMicros,
      output_cost_micros_per_1m_tokens: PRICE.outputMicros,
    });
  }
  for (const { scope, metric, period } of POLICIES) {
    for (const scopeId of scope === 'global' ? [null] : endpointIds) {
      await create('limit-policies', {
        scope_type: scope,
        scope_id: scopeId,
        metric,
        period,
        limit_value: LIMIT_VALUE,
      });
    }
  }
}
