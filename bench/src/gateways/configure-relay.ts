import { LIMIT_VALUE, POLICIES, PRICE } from '../limits/policies.ts';
import { LANE, MESSAGES_LANE, UPSTREAM_MODEL } from './gateway.ts';

export interface RelaySetup {
  /** Endpoints of the one lane, all of the same upstream. */
  readonly candidates: number;
  /** Whether the policies of the bench are in force. */
  readonly limited: boolean;
  /** One guardrail at the upstream's address: none at all, enabled but bound to nothing, or bound to everything. */
  readonly guardrail?: 'none' | 'unbound' | 'bound';
  /** The lane's wait budget, and a limit on it; without them it waits up to 5 s and has no limit of its own. */
  readonly lane?: { readonly waitMs: number; readonly requestsPerSecond: number };
  /** A second lane, whose endpoint speaks Messages. */
  readonly messages?: boolean;
}

type Create = (resource: string, body: unknown) => Promise<string>;
type Put = (resource: string, body: unknown) => Promise<void>;

export interface Management {
  readonly url: string;
  readonly adminToken: string;
}

type Send = <T>(method: 'POST' | 'PUT', path: string, body: unknown) => Promise<T>;

function senderTo({ url, adminToken }: Management): Send {
  return async <T>(method: 'POST' | 'PUT', path: string, body: unknown) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return JSON.parse(text) as T;
  };
}

/** A User API key that may send requests and nothing else. */
export async function createKey(management: Management): Promise<string> {
  const body = { name: 'Bench', scopes: ['relay:request'] };
  const created = await senderTo(management)<{ api_key: string }>('POST', '/api/account/api-keys', body);
  return created.api_key;
}

/** Creates one minimal lane, and the requested limits; returns what sets the limits of the bench later. */
export async function configureRelay(
  management: Management,
  upstreamUrl: string,
  { candidates, limited, guardrail = 'none', lane, messages = false }: RelaySetup,
): Promise<() => Promise<void>> {
  const send = senderTo(management);
  const create: Create = async (resource, body) =>
    (await send<{ id: string }>('POST', `/api/relay/${resource}`, body)).id;
  const put: Put = async (resource, body) => void (await send('PUT', `/api/relay/${resource}`, body));
  const providerId = await create('providers', {
    name: 'Upstream',
    base_url: upstreamUrl,
    auth_mode: 'bearer_static',
    enabled: true,
  });
  await create('credentials', { provider_id: providerId, name: 'primary', secret: 'sk-upstream' });
  const addLane = (name: string) =>
    create('routing-lanes', {
      name,
      default_max_wait_ms: lane?.waitMs ?? 5_000,
      allow_fallback: true,
      enabled: true,
    });
  const laneId = await addLane(LANE);
  const endpointIds: string[] = [];
  for (let rank = 1; rank <= candidates; rank += 1)
    endpointIds.push(await addEndpoint(create, providerId, laneId, rank, 'openai'));
  if (messages) await addEndpoint(create, providerId, await addLane(MESSAGES_LANE), 1, 'anthropic');
  if (limited) await addLimits(create, endpointIds);
  if (lane !== undefined) {
    const limit = { metric: 'requests', period: 'second', limit_value: lane.requestsPerSecond };
    await create('limit-policies', { scope_type: 'lane', scope_id: laneId, ...limit });
  }
  if (guardrail !== 'none') await addGuardrail(create, put, upstreamUrl, guardrail === 'bound');
  return () => addLimits(create, endpointIds);
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
  protocol: 'openai' | 'anthropic',
): Promise<string> {
  const endpointId = await create('endpoints', {
    provider_id: providerId,
    name: `Upstream ${protocol} ${rank}`,
    protocol,
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
