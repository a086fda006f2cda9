import { type ConfigFile, limitMetrics } from '@relay/contract';
import { METRICS } from '../../domain/limits/metric.ts';

/** A seeded generator of integers from 0 up to a bound. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const SCRIPTS = ['Größe', 'モデル', 'Модель', 'Fast & Cheap', 'gpt-5'];

/**
 * A file of 530 items over all sections, unsorted, with every kind of value: names in several scripts, explicit
 * and derived slugs, explicit and omitted defaults.
 */
export function largeFile(seed: number): {
  readonly file: ConfigFile;
  readonly secrets: Record<string, string>;
} {
  const below = numbers(seed);
  const flip = () => below(2) === 1;
  const some = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const times = <T>(count: number, make: (index: number) => T): T[] =>
    Array.from({ length: count }, (_, i) => make(i));
  const maybe = <T extends object>(fields: T): T | Record<string, never> => (flip() ? fields : {});

  const providers = times(20, (i) => ({
    name: `${some(SCRIPTS)} ${i}`,
    slug: `provider-${i}`,
    base_url: `https://p${i}.example.com/${flip() ? 'v1' : ''}`,
    ...(flip() ? { auth_mode: 'header_static' as const, auth_header_name: 'x-api-key' } : {}),
    ...maybe({ max_latency_ms: flip() ? 600_000 : 1 + below(1_000_000) }),
    ...maybe({ preset_slug: flip() ? null : 'openai' }),
    ...maybe({ enabled: flip() }),
  }));
  const credentials = times(30, (i) => ({
    provider: `provider-${i % 20}`,
    name: `Key / ${some(SCRIPTS)} ${i}`,
    secret_ref: flip() ? `env:KEY_${i}` : `file:/run/secrets/key ${i}`,
    ...maybe({ enabled: flip() }),
  }));
  const endpoints = times(150, (i) => {
    const credential = some(credentials);
    return {
      name: `Endpoint ${some(SCRIPTS)} ${i}`,
      slug: `endpoint-${i}`,
      provider: credential.provider,
      ...maybe({ credential: flip() ? null : credential.name }),
      upstream_model: `vendor/model-${below(30)}`,
      route_kind: some(['chat', 'responses', 'embeddings', 'multi'] as const),
      ...maybe({ supports_streaming: flip() }),
      ...maybe({ pacing: flip() }),
      ...maybe({ max_concurrency: flip() ? null : 1 + below(1_000) }),
      ...maybe({ context_window: 1 + below(1_000_000) }),
      ...maybe({ enabled: flip() }),
    };
  });
  const lanes = times(40, (i) => ({
    name: `Lane ${some(SCRIPTS)} ${i}`,
    ...maybe({ slug: `lane-${i}` }),
    ...maybe({ default_max_wait_ms: flip() ? 30_000 : below(60_000) }),
    ...maybe({ description: flip() ? '' : 'Zwei\nZeilen "mit" Zeichen' }),
    ...maybe({ selection: some(['preferred', 'soonest'] as const) }),
    ...maybe({ priority: some(['interactive', 'standard', 'batch'] as const) }),
    ...maybe({ hidden: flip() }),
  }));
  const laneSlugs = lanes.filter((lane) => 'slug' in lane).map((lane) => String(lane.slug));
  const pairs = new Set<string>();
  while (pairs.size < 150) pairs.add(`${some(laneSlugs)} ${some(endpoints).slug}`);
  const memberships = [...pairs].map((pair) => {
    const [lane = '', endpoint = ''] = pair.split(' ');
    return { lane, endpoint, manual_rank: below(100), ...maybe({ enabled: flip() }) };
  });
  const pricing_policies = times(80, (i) => ({
    endpoint: `endpoint-${i}`,
    input_cost_micros_per_1m_tokens: below(10_000_000),
    output_cost_micros_per_1m_tokens: below(10_000_000),
    ...maybe({ cached_input_cost_micros_per_1m_tokens: flip() ? null : below(1_000) }),
    ...maybe({ flat_request_cost_micros: flip() ? 0 : below(1_000) }),
    ...maybe({ source: some(['catalog', 'manual'] as const) }),
  }));
  const limit_policies = times(60, () => {
    const credential = some(credentials);
    const scoped = some([
      { scope_type: 'global' as const, ...maybe({ scope: null }) },
      { scope_type: 'provider' as const, scope: some(providers).slug },
      { scope_type: 'credential' as const, scope: `${credential.provider}/${credential.name}` },
      { scope_type: 'endpoint' as const, scope: some(endpoints).slug },
      { scope_type: 'lane' as const, scope: some(laneSlugs) },
    ]);
    const metric = some(limitMetrics);
    return {
      ...scoped,
      metric,
      period: METRICS[metric].held ? ('none' as const) : some(['minute', 'day'] as const),
      limit_value: below(1_000),
      ...maybe({ enabled: flip() }),
    };
  });

  const secrets = Object.fromEntries(
    credentials.map(({ secret_ref }, i) => [secret_ref, `sk-planted-${seed}-${i}`]),
  );
  return {
    file: {
      version: 1,
      providers,
      credentials,
      endpoints,
      lanes,
      memberships,
      pricing_policies,
      limit_policies,
    },
    secrets,
  };
}
