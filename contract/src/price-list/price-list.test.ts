import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { entriesFor, listedNamesOf, readPriceList } from './index.ts';

const litellm = {
  sample_spec: { litellm_provider: 'one of many', input_cost_per_token: 0, output_cost_per_token: 0 },
  'gpt-5': {
    litellm_provider: 'openai',
    mode: 'chat',
    input_cost_per_token: 1.25e-6,
    output_cost_per_token: 1e-5,
    cache_read_input_token_cost: 1.25e-7,
    input_cost_per_token_priority: 2.5e-6,
    output_cost_per_token_priority: 2e-5,
    input_cost_per_token_above_272k_tokens: 2.5e-6,
    input_cost_per_token_above_272k_tokens_priority: 5e-6,
    input_cost_per_token_batches: 6.25e-7,
    search_context_cost_per_query: { search_context_size_low: 0.01 },
    max_input_tokens: 272_000,
    max_output_tokens: 128_000,
    supports_vision: true,
    supports_function_calling: true,
    supports_web_search: false,
  },
  'claude-sonnet-x': {
    litellm_provider: 'anthropic',
    input_cost_per_token: 3e-6,
    output_cost_per_token: 1.5e-5,
    cache_creation_input_token_cost: 3.75e-6,
    cache_creation_input_token_cost_above_1hr: 6e-6,
    cache_creation_input_token_cost_above_1hr_above_200k_tokens: 1.2e-5,
    input_cost_per_token_above_200k_tokens: 6e-6,
  },
  'azure/eu/gpt-5': { litellm_provider: 'azure', input_cost_per_token: 2e-6, output_cost_per_token: 2e-5 },
  'openrouter/openai/gpt-5': {
    litellm_provider: 'openrouter',
    input_cost_per_token: 1.3e-6,
    output_cost_per_token: 1.1e-5,
  },
  'text-embedding-x': { litellm_provider: 'openai', mode: 'embedding', input_cost_per_token: 2e-8 },
  'dall-e': { litellm_provider: 'openai', mode: 'image_generation', input_cost_per_pixel: 1e-8 },
  broken: { litellm_provider: 'openai', input_cost_per_token: -1, output_cost_per_token: 1 },
};

const modelsDev = {
  anthropic: {
    id: 'anthropic',
    models: {
      'claude-sonnet-x': {
        cost: {
          input: 3,
          output: 15,
          cache_read: 0.3,
          cache_write: 3.75,
          context_over_200k: { input: 6, output: 22.5 },
        },
        limit: { context: 1_000_000, output: 64_000 },
        modalities: { input: ['text', 'image', 'pdf'], output: ['text'] },
        tool_call: true,
        reasoning: true,
      },
    },
  },
  hub: {
    id: 'hub',
    api: 'https://api.hub.example/v1',
    models: {
      'big/model': {
        cost: {
          input: 0.07,
          output: 0.28,
          tiers: [{ input: 0.14, output: 0.56, tier: { type: 'context', size: 272_000 } }],
          context_over_200k: { input: 9, output: 9 },
        },
      },
      free: { limit: { context: 8_000, output: 1_000 } },
    },
  },
};

describe("LiteLLM's price list", () => {
  const list = readPriceList(litellm);
  const entry = (model: string) => list?.entries.find((each) => each.model === model);

  it('has exact prices, with those by length and tier as variants, and what the model can', () => {
    assert.equal(list?.source, 'litellm');
    assert.deepEqual(entry('gpt-5'), {
      provider: 'openai',
      preset_slug: 'openai',
      host: null,
      model: 'gpt-5',
      input_cost_micros_per_1m_tokens: 1_250_000,
      output_cost_micros_per_1m_tokens: 10_000_000,
      cached_input_cost_micros_per_1m_tokens: 125_000,
      cache_write_5m_cost_micros_per_1m_tokens: null,
      cache_write_1h_cost_micros_per_1m_tokens: null,
      audio_input_cost_micros_per_1m_tokens: null,
      image_input_cost_micros_per_1m_tokens: null,
      reasoning_cost_micros_per_1m_tokens: null,
      audio_output_cost_micros_per_1m_tokens: null,
      image_output_cost_micros_per_1m_tokens: null,
      flat_request_cost_micros: 0,
      variants: [
        { above_input_tokens: 272_000, input_cost_micros_per_1m_tokens: 2_500_000 },
        { service_tier: 'batch', input_cost_micros_per_1m_tokens: 625_000 },
        {
          service_tier: 'priority',
          input_cost_micros_per_1m_tokens: 2_500_000,
          output_cost_micros_per_1m_tokens: 20_000_000,
        },
        {
          above_input_tokens: 272_000,
          service_tier: 'priority',
          input_cost_micros_per_1m_tokens: 5_000_000,
        },
      ],
      context_window: 272_000,
      output_tokens_max: 128_000,
      capabilities: ['vision', 'tools'],
    });
  });

  it('tells cache writes for an hour from prices above a length', () => {
    const sonnet = entry('claude-sonnet-x');
    assert.equal(sonnet?.cache_write_5m_cost_micros_per_1m_tokens, 3_750_000);
    assert.equal(sonnet?.cache_write_1h_cost_micros_per_1m_tokens, 6_000_000);
    assert.deepEqual(sonnet?.variants, [
      {
        above_input_tokens: 200_000,
        cache_write_1h_cost_micros_per_1m_tokens: 12_000_000,
        input_cost_micros_per_1m_tokens: 6_000_000,
      },
    ]);
  });

  it('names models without their provider, and leaves out what has no price for tokens', () => {
    const models = list?.entries.map(({ preset_slug, model }) => `${preset_slug} ${model}`);
    assert.deepEqual(models, [
      'openai gpt-5',
      'anthropic claude-sonnet-x',
      'azure-openai eu/gpt-5',
      'openrouter openai/gpt-5',
      'openai text-embedding-x',
    ]);
  });
});

describe("models.dev's price list", () => {
  const list = readPriceList(modelsDev);

  it('has prices by length, once, and says nothing of prices that it does not know', () => {
    assert.equal(list?.source, 'models_dev');
    const [sonnet, big] = list?.entries ?? [];
    assert.deepEqual(sonnet?.variants, [
      {
        above_input_tokens: 200_000,
        input_cost_micros_per_1m_tokens: 6_000_000,
        output_cost_micros_per_1m_tokens: 22_500_000,
      },
    ]);
    assert.ok(sonnet !== undefined && !('cache_write_1h_cost_micros_per_1m_tokens' in sonnet));
    assert.deepEqual(sonnet.capabilities, ['vision', 'tools', 'reasoning', 'pdf_input']);
    assert.deepEqual([sonnet.context_window, sonnet.output_tokens_max], [1_000_000, 64_000]);
    assert.deepEqual([big?.preset_slug, big?.host], [null, 'api.hub.example']);
    assert.equal(big?.input_cost_micros_per_1m_tokens, 70_000);
    assert.deepEqual(
      big.variants?.map(({ above_input_tokens }) => above_input_tokens),
      [272_000],
    );
    assert.equal(list?.entries.length, 2, 'a model without a price is left out');
  });
});

describe('a price list', () => {
  it('is cut down to the models of endpoints before it is sent', () => {
    const list = readPriceList(litellm);
    assert.ok(list !== null);
    const models = entriesFor(list, ['gpt-5', 'eu/gpt-5', 'models/gemini']).map(({ model }) => model);
    assert.deepEqual(models, ['gpt-5', 'eu/gpt-5']);
    assert.deepEqual(listedNamesOf('google/gemini-x'), ['google/gemini-x', 'gemini-x']);
  });

  it('is told from other files', () => {
    for (const other of [null, [], {}, { a: 1 }, { version: 1, providers: [] }])
      assert.equal(readPriceList(other), null);
  });
});
