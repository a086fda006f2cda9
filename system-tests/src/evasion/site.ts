import assert from 'node:assert/strict';
import type { ConfigFile } from '@relay/contract';
import type { RequestLogEntry } from '@relay/provider-sim';
import type { Deployment } from '../harness/deployment.ts';
import { HARD_WORTH, requestsBefore, type Way, WORTH } from './way.ts';

export const METRICS = ['spend', 'tokens'] as const;
export type Metric = (typeof METRICS)[number];

/** A micro-dollar for a token of input, four for one of output. */
const PRICES = { input_cost_micros_per_1m_tokens: 1_000_000, output_cost_micros_per_1m_tokens: 4_000_000 };
const OUTPUT_WORTH = 4;
const FAMILIES = ['openai', 'anthropic'] as const;
const MODELS = { openai: 'sim-multi', anthropic: 'sim-claude' } as const;

/** A hard limit holds to the token; an estimate may be wrong by a request. */
export type Enforcement = 'estimate' | 'hard';

export const laneOf = (index: number, metric: Metric, enforcement: Enforcement) =>
  `way-${index}-${metric}-${enforcement}`;

export function familyOf({ operation, through }: Way): (typeof FAMILIES)[number] {
  return through ?? (operation === 'messages' ? 'anthropic' : 'openai');
}

/** An endpoint with a price for each protocol, and for each way a lane under each limit. */
export async function setUp({ admin, provider }: Deployment, ways: readonly Way[]): Promise<void> {
  const lanes = ways.flatMap((way, index) =>
    METRICS.flatMap((metric) => [
      {
        way,
        metric,
        enforcement: 'estimate',
        limit: limitOf(way, metric),
        name: laneOf(index, metric, 'estimate'),
      },
      {
        way,
        metric,
        enforcement: 'hard',
        limit: hardLimitOf(way, metric),
        name: laneOf(index, metric, 'hard'),
      },
    ]),
  );
  const config = {
    version: 1,
    providers: FAMILIES.map((name) => ({ name, base_url: provider.baseUrl })),
    credentials: FAMILIES.map((name) => ({ provider: name, name: 'key', secret_ref: 'env:KEY' })),
    endpoints: FAMILIES.map((name) => ({
      name,
      provider: name,
      upstream_model: MODELS[name],
      protocol: name,
      route_kind: 'multi' as const,
    })),
    pricing_policies: FAMILIES.map((endpoint) => ({ endpoint, currency: 'USD' as const, ...PRICES })),
    lanes: lanes.map(({ name }) => ({ name, default_max_wait_ms: 0 })),
    memberships: lanes.map(({ way, name }) => ({ lane: name, endpoint: familyOf(way), manual_rank: 1 })),
    limit_policies: lanes.map(({ metric, enforcement, limit, name }) => ({
      scope_type: 'lane' as const,
      scope: name,
      metric,
      period: 'day' as const,
      limit_value: limit,
      enforcement,
    })),
  } as unknown as ConfigFile;
  const applied = await admin.call('POST', '/api/relay/config/apply', {
    config,
    secrets: { 'env:KEY': 'sk-upstream' },
  });
  assert.equal(applied.status, 200, JSON.stringify(applied.body));
}

/** What a request of the way uses, in what the limit counts. */
export function amountOf({ input, output }: Pick<Way, 'input' | 'output'>, metric: Metric): number {
  return input + output * (metric === 'spend' ? OUTPUT_WORTH : 1);
}

/** The same of one that reached the provider. */
export function usedBy({ promptTokens, completionTokens }: RequestLogEntry, metric: Metric): number {
  return amountOf({ input: promptTokens, output: completionTokens }, metric);
}

/** The most that a request reserves is some times what it uses: every byte of its text, and a cap that Relay writes. */
export function hardLimitOf(way: Way, metric: Metric): number {
  return HARD_WORTH * amountOf(way, metric);
}

/** What the requests before it use, and a few of those that hide something. */
function limitOf(way: Way, metric: Metric): number {
  const each = amountOf(way, metric);
  const { honest, trained } = requestsBefore(way);
  // A small request of the training is about ten tokens, which is a few micro-dollars more of output.
  return (honest + WORTH) * each + trained * 12;
}
