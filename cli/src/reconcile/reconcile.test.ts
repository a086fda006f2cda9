import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compare } from './compare.ts';
import { picosIn } from './export-record.ts';
import { matchModels } from './match-models.ts';
import { readExport } from './read-export.ts';
import { demandAllUsage } from './reconcile.ts';
import type { Metered, Policy } from './relay-side.ts';

const DAY = '2026-11-01';
const at = (day: string, hour = '00') => `${day}T${hour}:00:00.000Z`;
const seconds = (time: string) => Date.parse(time) / 1_000;

function metered(upstream_model: string, more: Partial<Metered> = {}): Metered {
  return {
    at: at(DAY),
    provider_id: 'p',
    endpoint_id: `of ${upstream_model}`,
    upstream_model,
    requests: 10,
    failed_requests: 0,
    estimated_requests: 0,
    input_tokens: 1_000,
    cached_input_tokens: 200,
    output_tokens: 500,
    cost_micros: 7_300,
    cost_usd: '0.0073',
    unpriced_requests: 0,
    ...more,
  };
}

function policy(upstream_model: string, more: Partial<Policy> = {}): Policy {
  return {
    id: `price of ${upstream_model}`,
    endpoint_id: `of ${upstream_model}`,
    currency: 'USD',
    input_cost_micros_per_1m_tokens: 2_500_000,
    output_cost_micros_per_1m_tokens: 10_000_000,
    cached_input_cost_micros_per_1m_tokens: 1_500_000,
    cache_write_5m_cost_micros_per_1m_tokens: null,
    cache_write_1h_cost_micros_per_1m_tokens: null,
    audio_input_cost_micros_per_1m_tokens: null,
    image_input_cost_micros_per_1m_tokens: null,
    reasoning_cost_micros_per_1m_tokens: null,
    audio_output_cost_micros_per_1m_tokens: null,
    image_output_cost_micros_per_1m_tokens: null,
    flat_request_cost_micros: 0,
    variants: [],
    scheduled: [],
    source: 'manual',
    as_of: at(DAY),
    etag: '"1"',
    ...more,
  };
}

const endpoints = ['gpt-4o', 'claude-x'].map((model) => ({ id: `of ${model}`, name: model }));

/** A page of OpenAI's usage, one bucket for each time. */
function openaiUsage(buckets: readonly (readonly [string, string, object])[]): string {
  return JSON.stringify({
    object: 'page',
    has_more: false,
    data: buckets.map(([start, end, result]) => ({
      object: 'bucket',
      start_time: seconds(start),
      end_time: seconds(end),
      results: [{ object: 'organization.usage.completions.result', ...result }],
    })),
  });
}

function openaiCosts(day: string, items: Readonly<Record<string, number>>): string {
  const results = Object.entries(items).map(([line_item, value]) => ({
    object: 'organization.costs.result',
    amount: { value, currency: 'usd' },
    line_item,
  }));
  const [start_time, end_time] = [seconds(at(day)), seconds(at(day)) + 86_400];
  return JSON.stringify({ object: 'page', data: [{ object: 'bucket', start_time, end_time, results }] });
}

const used = {
  model: 'gpt-4o',
  num_model_requests: 10,
  input_tokens: 1_000,
  input_cached_tokens: 200,
  output_tokens: 500,
};
const wholeDay = (more: object = {}) => openaiUsage([[at(DAY), at('2026-11-02'), { ...used, ...more }]]);
const read = (...texts: string[]) => texts.map((text) => readExport(text, 'the file'));

describe('a provider’s export', () => {
  it('of OpenAI is equal to what Relay metered, in tokens and money', () => {
    const costs = openaiCosts(DAY, {
      'gpt-4o, input': 0.002,
      'gpt-4o, cached input': 0.0003,
      'gpt-4o, output': 0.005,
    });
    const [day, ...others] = compare({
      exports: read(wholeDay(), costs),
      metered: [metered('gpt-4o')],
      endpoints,
      policies: [policy('gpt-4o')],
    });
    assert.deepEqual(others, []);
    assert.equal(day?.equal, true, JSON.stringify(day));
    assert.deepEqual(day.cost_usd, { relay: '0.0073', provider: '0.0073' });
  });

  it('names the price that the bill was not made with', () => {
    const costs = openaiCosts(DAY, {
      'gpt-4o, input': 0.002,
      'gpt-4o, cached input': 0.00025,
      'gpt-4o, output': 0.0075,
    });
    const [day] = compare({
      exports: read(wholeDay(), costs),
      metered: [metered('gpt-4o')],
      endpoints,
      policies: [policy('gpt-4o')],
    });
    assert.deepEqual(
      day?.price_rows.map((row) => [row.pricing_policy_id, row.field, row.price_micros, row.billed_micros]),
      [
        ['price of gpt-4o', 'cached_input_cost_micros_per_1m_tokens', 1_500_000, 1_250_000],
        ['price of gpt-4o', 'output_cost_micros_per_1m_tokens', 10_000_000, 15_000_000],
      ],
    );
    const [unpriced] = compare({
      exports: read(wholeDay(), costs),
      metered: [metered('gpt-4o', { cost_usd: '0' })],
      endpoints,
      policies: [],
    });
    assert.deepEqual([unpriced?.price_rows[0]?.pricing_policy_id, unpriced?.price_rows.length], [null, 3]);
  });

  it('names no price where the cost is equal, as on a day before a price was changed', () => {
    const costs = openaiCosts(DAY, {
      'gpt-4o, input': 0.002,
      'gpt-4o, cached input': 0.0003,
      'gpt-4o, output': 0.005,
    });
    const [day] = compare({
      exports: read(wholeDay(), costs),
      metered: [metered('gpt-4o')],
      endpoints,
      policies: [policy('gpt-4o', { output_cost_micros_per_1m_tokens: 12_000_000 })],
    });
    assert.deepEqual([day?.equal, day?.price_rows], [true, []]);
  });

  it('has the prices of its own day: those scheduled for then', () => {
    const scheduled = [
      {
        valid_from: '2026-10-01T00:00:00.000Z',
        input_cost_micros_per_1m_tokens: 2_500_000,
        output_cost_micros_per_1m_tokens: 10_000_000,
        cached_input_cost_micros_per_1m_tokens: 1_500_000,
      },
      {
        valid_from: '2026-12-01T00:00:00.000Z',
        input_cost_micros_per_1m_tokens: 1,
        output_cost_micros_per_1m_tokens: 1,
      },
    ];
    const later = policy('gpt-4o', { scheduled, output_cost_micros_per_1m_tokens: 3 });
    const costs = openaiCosts(DAY, { 'gpt-4o, output': 0.005 });
    const question = { metered: [metered('gpt-4o', { cost_usd: '0.005' })], endpoints, policies: [later] };
    const [day] = compare({ ...question, exports: read(wholeDay(), costs) });
    assert.deepEqual(day?.price_rows, []);
  });

  it('names the hour of requests that Relay lacks, and of those that the provider lacks', () => {
    const hours = openaiUsage([
      [at(DAY, '09'), at(DAY, '10'), { ...used, num_model_requests: 4 }],
      [
        at(DAY, '10'),
        at(DAY, '11'),
        { ...used, num_model_requests: 20, input_tokens: 3_000, output_tokens: 900 },
      ],
    ]);
    const [day] = compare({
      exports: read(hours),
      metered: [
        metered('gpt-4o', { at: at(DAY, '09'), requests: 5 }),
        metered('gpt-4o', { at: at(DAY, '10') }),
      ],
      endpoints,
      policies: [],
    });
    assert.deepEqual(
      day?.missing_in_relay.map(({ from, requests, input_tokens, output_tokens }) => [
        from,
        requests,
        input_tokens,
        output_tokens,
      ]),
      [[at(DAY, '10'), 10, 2_000, 400]],
    );
    assert.deepEqual(
      day.missing_at_provider.map(({ from, requests }) => [from, requests]),
      [[at(DAY, '09'), 1]],
    );
  });

  it('with costs of whole models names the one price that explains every day', () => {
    const totals = (day: string, value: number) => openaiCosts(day, { 'gpt-4o': value });
    const next = '2026-11-02';
    const second = metered('gpt-4o', {
      at: at(next),
      input_tokens: 9_000,
      output_tokens: 100,
      cost_usd: '0.0233',
    });
    // The output costs 15 dollars instead of 10.
    const exports = read(totals(DAY, 0.0073 + 0.0025), totals(next, 0.0233 + 0.0005));
    const question = { endpoints, policies: [policy('gpt-4o')] };
    const days = compare({ ...question, exports, metered: [metered('gpt-4o'), second] });
    assert.deepEqual(
      days.map(({ price_rows }) => price_rows.map((row) => [row.field, row.billed_micros, row.certain])),
      Array(2).fill([['output_cost_micros_per_1m_tokens', 15_000_000, true]]),
    );
    const [alone] = compare({ ...question, exports: exports.slice(0, 1), metered: [metered('gpt-4o')] });
    assert.ok((alone?.price_rows.length ?? 0) > 1);
    assert.ok(
      alone?.price_rows.every(({ certain }) => !certain),
      'one day cannot tell',
    );
  });

  it('of Anthropic is read in cents, with cache writes, and needs no count of requests', () => {
    const bucket = { starting_at: at(DAY), ending_at: at('2026-11-02') };
    const usage = {
      uncached_input_tokens: 700,
      cache_creation: { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 40 },
      cache_read_input_tokens: 200,
      output_tokens: 500,
      model: 'claude-x-20250514',
    };
    const cost = (token_type: string, amount: string) => ({
      currency: 'USD',
      amount,
      cost_type: 'tokens',
      model: 'claude-x-20250514',
      service_tier: 'standard',
      context_window: '0-200k',
      token_type,
    });
    const search = {
      currency: 'USD',
      amount: '1.00',
      cost_type: 'web_search',
      model: null,
      token_type: null,
    };
    const costs = [
      cost('uncached_input_tokens', '0.175'),
      cost('cache_read_input_tokens', '0.03'),
      cost('cache_creation.ephemeral_5m_input_tokens', '0.024'),
      cost('cache_creation.ephemeral_1h_input_tokens', '0.032'),
      cost('output_tokens', '0.5'),
      search,
    ];
    const exports = read(
      JSON.stringify({ data: [{ ...bucket, results: [usage] }] }),
      JSON.stringify({ data: [{ ...bucket, results: costs }] }),
    );
    assert.equal(exports[1]?.otherCosts, 1);
    const [day] = compare({
      exports,
      metered: [metered('claude-x', { cost_usd: '0.00745' })],
      endpoints,
      policies: [policy('claude-x', { cache_write_5m_cost_micros_per_1m_tokens: 4_000_000 })],
    });
    assert.equal(day?.model, 'claude-x-20250514');
    assert.deepEqual(day.usage?.provider, {
      requests: null,
      input_tokens: 1_000,
      cached_input_tokens: 200,
      output_tokens: 500,
    });
    assert.deepEqual(
      day.price_rows.map(({ field, price_micros, billed_micros }) => [field, price_micros, billed_micros]),
      [['cache_write_1h_cost_micros_per_1m_tokens', 4_000_000, 8_000_000]],
    );
    assert.deepEqual(day.missing_in_relay, []);
  });

  it('may be the CSV of a page', () => {
    const [openai, cost, anthropic] = read(
      'start_time,end_time,start_time_iso,end_time_iso,model,num_model_requests,input_tokens,input_cached_tokens,output_tokens\n1793491200,1793577600,2026-11-01T00:00:00+00:00,2026-11-02T00:00:00+00:00,gpt-4o,10,1000,200,500\n',
      'start_time_iso,end_time_iso,amount_value,amount_currency,line_item\n2026-11-01T00:00:00+00:00,2026-11-02T00:00:00+00:00,0.0050000000,usd,"gpt-4o, output"\n',
      'usage_date_utc,model_version,workspace,usage_input_tokens_no_cache,usage_input_tokens_cache_read,usage_output_tokens\n2026-11-01,claude-x,"a ""b"", c",700,200,500\n',
    );
    assert.deepEqual(openai?.usage, [
      {
        atMs: Date.parse(at(DAY)),
        spanMs: 86_400_000,
        model: 'gpt-4o',
        requests: 10,
        tokens: { input: 800, cached_input: 200, output: 500 },
      },
    ]);
    assert.deepEqual(
      cost?.costs.map(({ model, kind, picos }) => [model, kind, picos]),
      [['gpt-4o', 'output', 5_000_000_000n]],
    );
    assert.deepEqual(
      [anthropic?.format, anthropic?.usage[0]?.tokens],
      ['anthropic', { input: 700, cached_input: 200, output: 500 }],
    );
  });

  it('that is of another kind is refused', () => {
    for (const text of ['{}', '{"data":[]}', 'a,b\n1,2\n', '[]'])
      assert.throws(() => readExport(text, 'odd.json'), /odd.json is not a known usage or cost export/);
  });
});

describe('a key that reads only its own usage', () => {
  it('is rejected with the scope that it lacks', () => {
    assert.throws(() => demandAllUsage(['relay:usage:read']), {
      exitCode: 3,
      detail: { fix: 'Use a key with the scope relay:usage:read:organization, or the admin token.' },
    });
    demandAllUsage(['relay:usage:read', 'relay:usage:read:organization']);
  });
});

describe('models of an export', () => {
  it('are the versions of what endpoints name, and are compared together where they cannot be told apart', () => {
    const one = matchModels(['gpt-4o-2024-08-06', 'other'], ['gpt-4o', 'mine']);
    assert.deepEqual([...one.ofRelay.values()], ['gpt-4o-2024-08-06', 'mine']);
    const exact = matchModels(['gpt-4o', 'gpt-4o-2024-08-06'], ['gpt-4o', 'gpt-4o-2024-08-06']);
    assert.deepEqual([...exact.ofRelay.values()], ['gpt-4o', 'gpt-4o-2024-08-06']);
    const several = matchModels(['gpt-4o-2024-08-06', 'gpt-4o-2024-11-20'], ['gpt-4o']);
    assert.deepEqual([...several.ofExport.values()], ['gpt-4o', 'gpt-4o']);
    const both = matchModels(['gpt-4o-2024-08-06'], ['gpt-4o', 'gpt-4o-2024-08-06']);
    assert.deepEqual([...both.ofRelay.values(), ...both.ofExport.values()], ['gpt-4o', 'gpt-4o', 'gpt-4o']);
  });
});

describe('an amount', () => {
  it('is read without floating point numbers', () => {
    assert.deepEqual(picosIn('0.1'), { picos: 100_000_000_000n, digits: 1 });
    assert.deepEqual(picosIn(1e-7), { picos: 100_000n, digits: 7 });
    assert.deepEqual(picosIn('123.45', 2), { picos: 1_234_500_000_000n, digits: 4 });
    assert.deepEqual(picosIn('-2'), { picos: -2_000_000_000_000n, digits: 0 });
    assert.equal(picosIn('much'), null);
    assert.equal(picosIn(''), null);
  });
});
