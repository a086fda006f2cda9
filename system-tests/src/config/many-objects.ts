import type { ConfigFile } from '@relay/contract';

/** A configuration of 500 objects of every kind, and the variables of its secrets. */
export function manyObjects(): { readonly config: ConfigFile; readonly variables: Record<string, string> } {
  const times = <T>(count: number, make: (index: number) => T): T[] =>
    Array.from({ length: count }, (_, index) => make(index));
  const providers = times(20, (i) => ({
    slug: `provider-${i}`,
    name: `Provider № ${i}: "größer"`,
    base_url: `https://p${i}.example.com/v1`,
    ...(i % 3 === 0 ? { auth_mode: 'header_static' as const, auth_header_name: 'x-api-key' } : {}),
  }));
  const credentials = times(20, (i) => ({
    provider: `provider-${i}`,
    name: i % 2 === 0 ? 'yes' : `key: ${i}`,
    secret_ref: `env:CONFIG_KEY_${i}`,
  }));
  const endpoints = times(140, (i) => ({
    name: `Endpoint ${i}`,
    provider: `provider-${i % 20}`,
    upstream_model: `vendor/model-${i % 30}`,
    route_kind: (['chat', 'responses', 'embeddings', 'multi'] as const)[i % 4] ?? 'multi',
    ...(i % 5 === 0 ? { max_concurrency: 1 + i } : {}),
  }));
  const lanes = times(60, (i) => ({
    name: `Lane ${i}`,
    ...(i % 2 === 0 ? { default_max_wait_ms: 1_000 * i, description: `Two\nlines of ${i}` } : {}),
  }));
  const memberships = times(150, (i) => ({
    lane: `lane-${i % 60}`,
    endpoint: `endpoint-${(i + 11 * Math.floor(i / 60)) % 140}`,
    manual_rank: 1 + (i % 9),
  }));
  const pricing_policies = times(50, (i) => ({
    endpoint: `endpoint-${i}`,
    input_cost_micros_per_1m_tokens: 1_000 * i,
    output_cost_micros_per_1m_tokens: 3_000 * i,
  }));
  const limit_policies = times(50, (i) => ({
    scope_type: 'endpoint' as const,
    scope: `endpoint-${i}`,
    metric: 'requests' as const,
    period: 'minute' as const,
    limit_value: 100 + i,
  }));
  const guardrails = times(5, (i) => ({
    name: `Guardrail ${i}`,
    base_url: `https://guard${i}.example.com/check`,
    request_template: { input: '{{text}}', more: { stage: '{{stage}}', list: [1, null, true] } },
    response_rules: [
      { path: '$.flagged', operator: 'equals' as const, value: i % 2 === 0, action: 'block' as const },
    ],
    ...(i === 0 ? { auth_mode: 'bearer_static' as const, secret_ref: 'env:CONFIG_GUARD_KEY' } : {}),
  }));
  const guardrail_bindings = times(5, (i) => ({
    guardrail: `guardrail-${i}`,
    target_type: 'lane' as const,
    target: `lane-${10 + i}`,
  }));
  const keys = times(20, (i) => [`CONFIG_KEY_${i}`, `sk-planted-in-config-${i}`]);
  const variables = { ...Object.fromEntries(keys), CONFIG_GUARD_KEY: 'sk-planted-in-config-guard' };
  return {
    config: {
      version: 1,
      providers,
      credentials,
      endpoints,
      lanes,
      memberships,
      pricing_policies,
      limit_policies,
      guardrails,
      guardrail_bindings,
    },
    variables,
  };
}
