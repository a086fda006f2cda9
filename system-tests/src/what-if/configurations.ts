import type { ConfigFile } from '@relay/contract';

export const SECRET_REF = 'env:SIM_KEY';

/** Two lanes that share an endpoint, one of them with a second endpoint for what the first has no capacity for. */
export function recordedFile(baseUrl: string): ConfigFile {
  return {
    version: 1,
    providers: [{ name: 'Sim', base_url: baseUrl }],
    credentials: [{ provider: 'sim', name: 'key', secret_ref: SECRET_REF }],
    endpoints: [endpointOf('First', 8), endpointOf('Second', null)],
    lanes: [
      { name: 'Chat', default_max_wait_ms: 1_500, priority: 'interactive' },
      { name: 'Bulk', default_max_wait_ms: 4_000, priority: 'batch' },
    ],
    memberships: [
      { lane: 'chat', endpoint: 'first', manual_rank: 1 },
      { lane: 'chat', endpoint: 'second', manual_rank: 2 },
      { lane: 'bulk', endpoint: 'first', manual_rank: 1 },
    ],
    pricing_policies: ['first', 'second'].map((endpoint) => ({
      endpoint,
      input_cost_micros_per_1m_tokens: 1_000_000,
      output_cost_micros_per_1m_tokens: 2_000_000,
    })),
    limit_policies: [limitOf('second', 30)],
  };
}

/** What is tried before it is saved: more at both endpoints, and other wait budgets. */
export function editedFile(): ConfigFile {
  return {
    version: 1,
    lanes: [
      { name: 'Chat', default_max_wait_ms: 3_000, priority: 'interactive' },
      { name: 'Bulk', default_max_wait_ms: 2_000, priority: 'batch' },
    ],
    endpoints: [endpointOf('First', 11)],
    limit_policies: [limitOf('second', 50)],
  };
}

function limitOf(scope: string, limit: number) {
  return {
    scope_type: 'endpoint',
    scope,
    metric: 'requests',
    period: 'minute',
    limit_value: limit,
  } as const;
}

function endpointOf(name: string, maxConcurrency: number | null) {
  return {
    name,
    provider: 'sim',
    credential: 'key',
    upstream_model: 'sim-chat',
    route_kind: 'chat',
    max_concurrency: maxConcurrency,
  } as const;
}
