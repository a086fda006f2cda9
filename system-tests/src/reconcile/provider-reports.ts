import type { Served } from './billing-provider.ts';

/** A request in the provider's books, at the time at which Relay got it: on the hour, clocks would disagree. */
export interface Booked extends Served {
  readonly atMs: number;
}

/** Dollars for a million tokens, as the provider publishes them. */
export interface ListPrice {
  readonly input: number;
  readonly cached: number;
  readonly write: number;
  readonly output: number;
}

const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];

/** Sums of the books by time and model. */
function groups(booked: readonly Booked[], stepMs: number): { atMs: number; model: string; of: Booked[] }[] {
  const found = Map.groupBy(booked, ({ atMs, model }) => `${Math.floor(atMs / stepMs) * stepMs} ${model}`);
  return [...found].map(([key, of]) => {
    const [at = '', model = ''] = key.split(' ');
    return { atMs: Number(at), model, of };
  });
}

function sum(of: readonly Booked[], tokens: (each: Booked) => number): number {
  return of.reduce((total, each) => total + tokens(each), 0);
}

/** What `organization/usage/completions` answers, by the hour. */
export function openaiUsage(booked: readonly Booked[]): unknown {
  const data = groups(booked, HOUR_MS).map(({ atMs, model, of }) => ({
    object: 'bucket',
    start_time: atMs / 1_000,
    end_time: (atMs + HOUR_MS) / 1_000,
    results: [
      {
        object: 'organization.usage.completions.result',
        model,
        num_model_requests: of.length,
        input_tokens: sum(of, ({ input }) => input),
        input_cached_tokens: sum(of, ({ cached }) => cached),
        output_tokens: sum(of, ({ output }) => output),
      },
    ],
  }));
  return { object: 'page', has_more: false, data };
}

/** What `organization/costs` answers, by line item. */
export function openaiCosts(booked: readonly Booked[], prices: ReadonlyMap<string, ListPrice>): unknown {
  const data = groups(booked, DAY_MS).map(({ atMs, model, of }) => {
    const price = prices.get(model) ?? { input: 0, cached: 0, write: 0, output: 0 };
    const item = (kind: string, tokens: number, dollars: number) => ({
      object: 'organization.costs.result',
      line_item: `${model}, ${kind}`,
      amount: { value: (tokens * dollars) / 1_000_000, currency: 'usd' },
    });
    return {
      object: 'bucket',
      start_time: atMs / 1_000,
      end_time: (atMs + DAY_MS) / 1_000,
      results: [
        item(
          'input',
          sum(of, ({ input, cached }) => input - cached),
          price.input,
        ),
        item(
          'cached input',
          sum(of, ({ cached }) => cached),
          price.cached,
        ),
        item(
          'output',
          sum(of, ({ output }) => output),
          price.output,
        ),
      ],
    };
  });
  return { object: 'page', has_more: false, data };
}

/** What Anthropic's `usage_report/messages` answers, by the day. */
export function anthropicUsage(booked: readonly Booked[]): unknown {
  const data = groups(booked, DAY_MS).map(({ atMs, model, of }) => ({
    starting_at: new Date(atMs).toISOString(),
    ending_at: new Date(atMs + DAY_MS).toISOString(),
    results: [
      {
        model,
        uncached_input_tokens: sum(of, ({ input, cached, write }) => input - cached - write),
        cache_read_input_tokens: sum(of, ({ cached }) => cached),
        cache_creation: {
          ephemeral_5m_input_tokens: sum(of, ({ write }) => write),
          ephemeral_1h_input_tokens: 0,
        },
        output_tokens: sum(of, ({ output }) => output),
      },
    ],
  }));
  return { data, has_more: false, next_page: null };
}

/** What Anthropic's `cost_report` answers, by description; in cents. */
export function anthropicCosts(booked: readonly Booked[], prices: ReadonlyMap<string, ListPrice>): unknown {
  const data = groups(booked, DAY_MS).map(({ atMs, model, of }) => {
    const price = prices.get(model) ?? { input: 0, cached: 0, write: 0, output: 0 };
    const item = (token_type: string, tokens: number, dollars: number) => ({
      currency: 'USD',
      amount: ((tokens * dollars) / 10_000).toFixed(10),
      cost_type: 'tokens',
      service_tier: 'standard',
      context_window: '0-200k',
      model,
      token_type,
    });
    return {
      starting_at: new Date(atMs).toISOString(),
      ending_at: new Date(atMs + DAY_MS).toISOString(),
      results: [
        item(
          'uncached_input_tokens',
          sum(of, ({ input, cached, write }) => input - cached - write),
          price.input,
        ),
        item(
          'cache_read_input_tokens',
          sum(of, ({ cached }) => cached),
          price.cached,
        ),
        item(
          'cache_creation.ephemeral_5m_input_tokens',
          sum(of, ({ write }) => write),
          price.write,
        ),
        item(
          'output_tokens',
          sum(of, ({ output }) => output),
          price.output,
        ),
      ],
    };
  });
  return { data, has_more: false, next_page: null };
}
