import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { calcPrice, type ModelPrice, waitForUpdate } from '@pydantic/genai-prices';
import { shiftDecimal } from '@relay/contract/price-list';
import fc from 'fast-check';
import { findCatalogPrice, priceOf, pricesInForce } from './price-catalog.ts';

const atMs = Date.UTC(2026, 10, 1);
const OPENAI = 'https://api.openai.com/v1';

/** Every entry of the catalog. */
async function everyPrice(): Promise<{ of: string; prices: ModelPrice }[]> {
  const providers = (await waitForUpdate()) ?? [];
  return providers.flatMap((provider) =>
    provider.models.flatMap(({ id, prices }) =>
      (Array.isArray(prices) ? prices.map((entry) => entry.prices) : [prices]).map((entry) => ({
        of: `${provider.id}/${id}`,
        prices: entry,
      })),
    ),
  );
}

const DIGITS = {
  input_mtok: 6,
  output_mtok: 6,
  cache_read_mtok: 6,
  cache_write_mtok: 6,
  cache_write_1h_mtok: 6,
  input_audio_mtok: 6,
  output_audio_mtok: 6,
  requests_kcount: 3,
};
const UNSET = {
  cache_write_5m_cost_micros_per_1m_tokens: null,
  cache_write_1h_cost_micros_per_1m_tokens: null,
  audio_input_cost_micros_per_1m_tokens: null,
  image_input_cost_micros_per_1m_tokens: null,
  reasoning_cost_micros_per_1m_tokens: null,
  audio_output_cost_micros_per_1m_tokens: null,
  image_output_cost_micros_per_1m_tokens: null,
  variants: [],
};
const inputOf = (prices: readonly ModelPrice[]) => priceOf(prices)?.input_cost_micros_per_1m_tokens;

describe('a catalogue price', () => {
  it('is found by the provider’s address and the model, in whole micro-USD', async () => {
    assert.deepEqual(await findCatalogPrice({ baseUrl: OPENAI, model: 'gpt-4o-mini', atMs }), {
      ...UNSET,
      input_cost_micros_per_1m_tokens: 150_000,
      output_cost_micros_per_1m_tokens: 600_000,
      cached_input_cost_micros_per_1m_tokens: 75_000,
      flat_request_cost_micros: 0,
    });
  });

  it('is there for the input alone where a model makes no output', async () => {
    const price = await findCatalogPrice({ baseUrl: OPENAI, model: 'text-embedding-3-small', atMs });
    assert.equal(price?.input_cost_micros_per_1m_tokens, 20_000);
    assert.equal(price?.output_cost_micros_per_1m_tokens, null);
  });

  it('is not there for an address or a model that the catalogue does not know', async () => {
    for (const [baseUrl, model] of [
      ['https://llm.internal.example/v1', 'gpt-4o-mini'],
      [`https://llm.internal.example/?next=${OPENAI}`, 'gpt-4o-mini'],
      [OPENAI, 'a-model-of-our-own'],
    ] as const)
      assert.equal(await findCatalogPrice({ baseUrl, model, atMs }), null, `${baseUrl} ${model}`);
  });

  it('is not zero for a model that is listed without one', () => {
    assert.equal(priceOf([{}]), null);
    assert.equal(priceOf([{ audio_hours: 1 }]), null);
    assert.equal(inputOf([{ input_mtok: 0, output_mtok: 0 }]), 0);
  });

  it('can be asked for of every model there is', async () => {
    for (const { id: providerId, models } of (await waitForUpdate()) ?? [])
      for (const { id } of models) assert.doesNotThrow(() => calcPrice({}, id, { providerId }), id);
  });

  it('rises with the length of the input where the catalogue says so', () => {
    const tiered = (base: number, price: number) => ({ base, tiers: [{ start: 200_000, price }] });
    const prices = { input_mtok: tiered(3, 6), cache_write_mtok: 3.75, output_mtok: tiered(15, 22.5) };
    const price = priceOf([prices]);
    assert.deepEqual(price, {
      ...UNSET,
      input_cost_micros_per_1m_tokens: 3_000_000,
      output_cost_micros_per_1m_tokens: 15_000_000,
      cached_input_cost_micros_per_1m_tokens: null,
      cache_write_5m_cost_micros_per_1m_tokens: 3_750_000,
      flat_request_cost_micros: 0,
      variants: [
        {
          above_input_tokens: 200_000,
          input_cost_micros_per_1m_tokens: 6_000_000,
          output_cost_micros_per_1m_tokens: 22_500_000,
        },
      ],
    });
  });

  it('has what is written to a cache, for 5 minutes and for an hour', async () => {
    const baseUrl = 'https://api.anthropic.com/v1';
    const price = await findCatalogPrice({ baseUrl, model: 'claude-sonnet-4-5', atMs });
    assert.deepEqual(
      [price?.cache_write_5m_cost_micros_per_1m_tokens, price?.cache_write_1h_cost_micros_per_1m_tokens],
      [3_750_000, 6_000_000],
    );
  });

  it('is that of each request where requests have one', () => {
    const price = priceOf([{ input_mtok: 1, requests_kcount: 12 }]);
    assert.equal(price?.flat_request_cost_micros, 12_000);
  });

  it('is the one in force, and by the hour the highest, at whatever hour it is asked for', () => {
    const prices = [
      { prices: { input_mtok: 1 } },
      { constraint: { type: 'start_date' as const, start_date: '2026-08-17' }, prices: { input_mtok: 2 } },
      {
        constraint: { type: 'time_of_date' as const, start_time: '01:00:00Z', end_time: '04:00:00Z' },
        prices: { input_mtok: 4 },
      },
    ];
    const micros = (ms: number) => inputOf(pricesInForce({ prices: prices.slice(0, 2) }, ms));
    assert.equal(micros(Date.UTC(2026, 7, 16)), 1_000_000);
    assert.equal(micros(Date.UTC(2026, 7, 17)), 2_000_000);
    for (let hour = 0; hour < 24; hour += 1)
      assert.equal(inputOf(pricesInForce({ prices }, Date.UTC(2026, 8, 1, hour))), 4_000_000);
  });
});

describe('conversion to whole micro-USD', () => {
  it('is exact for every price of at most six decimals', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000_000_000 }), (micros) => {
        // The decimal text, as in a price list, is the exact price.
        const written = `${Math.floor(micros / 1_000_000)}.${String(micros % 1_000_000).padStart(6, '0')}`;
        assert.deepEqual(shiftDecimal(Number(written), 6), { value: micros, exact: true });
      }),
      { numRuns: 20_000 },
    );
  });

  it('is within half of one, and says so, for a price that has more', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 10_000, noNaN: true }), (price) => {
        const { value, exact } = shiftDecimal(price, 6);
        assert.ok(Number.isSafeInteger(value));
        assert.ok(Math.abs(value - price * 1_000_000) <= 0.5 + price * 1e-9);
        if (exact) assert.equal(value / 1_000_000, price);
      }),
      { numRuns: 20_000 },
    );
    assert.deepEqual(shiftDecimal(5e-7, 6), { value: 1, exact: false });
    assert.deepEqual(shiftDecimal(1e21, 6), { value: 1e27, exact: true });
  });

  it('rounds of the whole catalogue only these, which no number of micro-USD is', async () => {
    const rounded = new Set<string>();
    let converted = 0;
    for (const { of, prices } of await everyPrice()) {
      for (const [name, digits] of Object.entries(DIGITS)) {
        const price = prices[name];
        if (price === undefined) continue;
        converted += 1;
        const base = typeof price === 'number' ? price : price.base;
        if (!shiftDecimal(base, digits).exact) rounded.add(`${of} ${name} ${base}`);
      }
    }
    assert.ok(converted > 3_000, `${converted}`);
    assert.deepEqual(
      [...rounded],
      [
        'huggingface_together/Qwen/Qwen3-VL-8B-Instruct input_mtok 0.18000000000000002',
        'openrouter/google/gemini-2.5-flash-image cache_write_mtok 0.08333333333333334',
        'openrouter/google/gemini-2.5-flash-lite cache_write_mtok 0.08333333333333334',
        'openrouter/google/gemini-3-flash-preview cache_write_mtok 0.08333333333333334',
        'openrouter/google/gemini-3.1-flash-lite cache_write_mtok 0.08333333333333334',
        'openrouter/google/gemini-3.5-flash cache_write_mtok 0.08333333333333334',
        'openrouter/~google/gemini-flash-latest cache_write_mtok 0.08333333333333334',
      ],
    );
  });

  it('gives every priced model of the catalogue a price that can be stored', async () => {
    let priced = 0;
    for (const { of, prices } of await everyPrice()) {
      const price = priceOf([prices]);
      if (price === null) continue;
      priced += 1;
      const { variants, ...base } = price;
      const all = [base, ...variants].flatMap((each) => Object.values<unknown>({ ...each }));
      for (const micros of all.filter((value) => value !== null))
        assert.ok(Number.isSafeInteger(micros) && Number(micros) <= 1_000_000_000_000, of);
    }
    assert.ok(priced > 1_000, `${priced}`);
  });
});
