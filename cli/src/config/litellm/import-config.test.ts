import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readYaml, writeConfigText } from '@relay/contract/config-text';
import { readConfigText } from '@relay/server/config-file';
import { type Imported, importConfig } from './import-config.ts';

const variables: Readonly<Record<string, string>> = { BASE: 'https://llm.example.com/v1' };

function imported(text: string): Imported {
  const yaml = readYaml(text);
  assert.deepEqual(yaml.faults, []);
  const result = importConfig(yaml, (name) => variables[name]);
  const { findings } = readConfigText(writeConfigText(result.config), { references: 'in_file' });
  assert.deepEqual(findings, []);
  return result;
}

/** One entry of `model_list`, with these parameters beside its model. */
function entry(name: string, model: string, params = ''): string {
  return `  - model_name: ${name}\n    litellm_params: { model: ${model}${params === '' ? '' : `, ${params}`} }\n`;
}

const placed = ({ remarks }: Imported) => remarks.map(({ kind, line, path }) => [kind, line, path]);

describe('the import of a LiteLLM configuration', () => {
  it('creates a lane for each name, and an endpoint with provider, URL and key for each entry', () => {
    const { config, remarks } = imported(
      `model_list:\n${entry('fast', 'openai/gpt-4o', 'api_key: os.environ/KEY')}${entry('fast', 'groq/llama', 'api_key: os.environ/GROQ')}`,
    );
    assert.deepEqual(remarks, []);
    assert.deepEqual(
      config.providers?.map(({ slug, base_url }) => [slug, base_url]),
      [
        ['openai', 'https://api.openai.com/v1'],
        ['groq', 'https://api.groq.com/openai/v1'],
      ],
    );
    assert.deepEqual(
      config.credentials?.map(({ provider, secret_ref }) => [provider, secret_ref]),
      [
        ['openai', 'env:KEY'],
        ['groq', 'env:GROQ'],
      ],
    );
    assert.deepEqual(
      config.endpoints?.map(({ slug, upstream_model, route_kind }) => [slug, upstream_model, route_kind]),
      [
        ['fast', 'gpt-4o', 'multi'],
        ['fast-2', 'llama', 'multi'],
      ],
    );
    assert.deepEqual(config.lanes, [{ slug: 'fast', name: 'fast' }]);
    assert.deepEqual(
      config.memberships?.map(({ endpoint, manual_rank }) => [endpoint, manual_rank]),
      [
        ['fast', 1],
        ['fast-2', 2],
      ],
    );
  });

  it('ranks by order, then by weight, and puts the endpoints of fallbacks last', () => {
    const { config } = imported(
      `model_list:\n${entry('a', 'openai/one', 'order: 2, api_key: os.environ/K')}${entry('a', 'openai/two', 'order: 1, weight: 1, api_key: os.environ/K')}${entry('a', 'openai/three', 'order: 1, weight: 5, api_key: os.environ/K')}${entry('b', 'openai/four', 'api_key: os.environ/K')}router_settings:\n  fallbacks: [{ a: [b] }]\n`,
    );
    const models = new Map(config.endpoints?.map(({ slug, upstream_model }) => [slug, upstream_model]));
    const ranks = config.memberships
      ?.filter(({ lane }) => lane === 'a')
      .map(({ endpoint }) => models.get(endpoint));
    assert.deepEqual(ranks, ['three', 'two', 'one', 'four']);
  });

  it('keeps the names that clients call, even if another slug is equal', () => {
    const { config } = imported(
      `model_list:\n${entry('gpt-4.1', 'openai/a', 'api_key: os.environ/K')}${entry('gpt-4-1', 'openai/b', 'api_key: os.environ/K')}`,
    );
    assert.deepEqual(
      config.lanes?.map(({ slug, name }) => [slug, name]),
      [
        ['gpt-4-1-2', 'gpt-4.1'],
        ['gpt-4-1', 'gpt-4-1'],
      ],
    );
  });

  it('converts limits and budgets, and prices per token to prices per million', () => {
    const { config } = imported(
      `model_list:\n${entry('a', 'openai/a', 'api_key: os.environ/K, rpm: 60, tpm: 1000, max_budget: 0.5, budget_duration: 1d, input_cost_per_token: 0.0000025, output_cost_per_token: 1e-05')}router_settings:\n  provider_budget_config:\n    openai: { budget_limit: 100, time_period: 1mo }\nlitellm_settings: { max_budget: 7, budget_duration: 1h }\n`,
    );
    assert.deepEqual(
      config.limit_policies?.map((limit) => [
        limit.scope_type,
        limit.scope,
        limit.metric,
        limit.period,
        limit.limit_value,
      ]),
      [
        ['endpoint', 'a', 'requests', 'minute', 60],
        ['endpoint', 'a', 'tokens', 'minute', 1_000],
        ['endpoint', 'a', 'spend', 'day', 500_000],
        ['global', undefined, 'spend', 'hour', 7_000_000],
        ['provider', 'openai', 'spend', 'month', 100_000_000],
      ],
    );
    const ofSpend = config.limit_policies?.filter(({ metric }) => metric === 'spend') ?? [];
    assert.deepEqual(new Set(ofSpend.map(({ unpriced }) => unpriced)), new Set(['allow']));
    assert.deepEqual(config.pricing_policies, [
      {
        endpoint: 'a',
        input_cost_micros_per_1m_tokens: 2_500_000,
        output_cost_micros_per_1m_tokens: 10_000_000,
      },
    ]);
  });

  it('keeps the price of cached input, and never rounds a budget to nothing', () => {
    const { config } = imported(
      `model_list:\n${entry('a', 'openai/a', 'api_key: os.environ/K, max_budget: 0.0000001, budget_duration: 1d, input_cost_per_token: 0.000002, output_cost_per_token: 0.000004, cache_read_input_token_cost: 0.0000005')}`,
    );
    assert.equal(config.limit_policies?.[0]?.limit_value, 1);
    assert.equal(config.pricing_policies?.[0]?.cached_input_cost_micros_per_1m_tokens, 500_000);
  });

  it('takes a budget of 7 days as one of the calendar week', () => {
    const result = imported(
      `model_list:\n${entry('a', 'openai/a', 'api_key: os.environ/K, max_budget: 5, budget_duration: 7d')}`,
    );
    assert.equal(result.config.limit_policies?.[0]?.period, 'week');
    assert.deepEqual(placed(result), []);
  });

  it('keeps prices of every kind, by length and by service tier', () => {
    const params =
      'api_key: os.environ/K, input_cost_per_token: 0.000003, output_cost_per_token: 0.000015, cache_creation_input_token_cost: 0.00000375';
    const info =
      '    model_info: { cache_creation_input_token_cost_above_1hr: 0.000006, input_cost_per_token: 1, output_cost_per_reasoning_token: 0.00002, input_cost_per_token_above_200k_tokens: 0.000006, output_cost_per_token_batches: 0.0000075, input_cost_per_audio_token: 0.00001 }\n';
    const { config, remarks } = imported(`model_list:\n${entry('a', 'openai/a', params)}${info}`);
    assert.deepEqual(remarks, []);
    assert.deepEqual(config.pricing_policies, [
      {
        endpoint: 'a',
        input_cost_micros_per_1m_tokens: 3_000_000,
        output_cost_micros_per_1m_tokens: 15_000_000,
        cache_write_5m_cost_micros_per_1m_tokens: 3_750_000,
        cache_write_1h_cost_micros_per_1m_tokens: 6_000_000,
        reasoning_cost_micros_per_1m_tokens: 20_000_000,
        audio_input_cost_micros_per_1m_tokens: 10_000_000,
        variants: [
          { above_input_tokens: 200_000, input_cost_micros_per_1m_tokens: 6_000_000 },
          { service_tier: 'batch', output_cost_micros_per_1m_tokens: 7_500_000 },
        ],
      },
    ]);
  });

  it('says that a budget of 30 days becomes one of the calendar month', () => {
    const result = imported(
      `model_list:\n${entry('a', 'openai/a', 'api_key: os.environ/K, max_budget: 5, budget_duration: 30d')}`,
    );
    assert.equal(result.config.limit_policies?.[0]?.period, 'month');
    assert.deepEqual(placed(result), [['changed', 3, 'model_list[0].litellm_params.budget_duration']]);
  });

  it('gives a model its own fallbacks, and those for every model only where it has none', () => {
    const { config } = imported(
      `model_list:\n${['a', 'b', 'c', 'd'].map((name) => entry(name, `openai/${name}`, 'api_key: os.environ/K')).join('')}litellm_settings:\n  fallbacks: [{ a: [b] }]\n  default_fallbacks: [d]\n`,
    );
    const inLane = (name: string) =>
      config.memberships?.filter(({ lane }) => lane === name).map(({ endpoint }) => endpoint);
    assert.deepEqual(['a', 'b', 'c'].map(inLane), [
      ['a', 'b'],
      ['b', 'd'],
      ['c', 'd'],
    ]);
  });

  it('reports settings it cannot import with path and line, known or not', () => {
    const result = imported(
      `model_list:\n${entry('a', 'openai/a', 'api_key: os.environ/K, max_budget: 5, budget_duration: 2d, seed: 1')}${entry('b', 'bedrock/b')}${entry('c', 'openai/*')}something_new:\n  deep: [1, 2]\nlitellm_settings:\n  max_budget: 5\n  cache: true\n`,
    );
    assert.deepEqual(placed(result), [
      ['not_imported', 3, 'model_list[0].litellm_params.max_budget'],
      ['not_imported', 3, 'model_list[0].litellm_params.seed'],
      ['not_imported', 4, 'model_list[1]'],
      ['not_imported', 6, 'model_list[2]'],
      ['not_imported', 8, 'something_new'],
      ['not_imported', 11, 'litellm_settings.max_budget'],
      ['not_imported', 12, 'litellm_settings.cache'],
    ]);
    assert.deepEqual(
      result.config.lanes?.map(({ name }) => name),
      ['a'],
    );
  });

  it('copies no secret from the file, and names the variable to set', () => {
    const result = imported(
      `model_list:\n${entry('a', 'openai/a', 'api_key: sk-first')}${entry('b', 'openai/b', 'api_key: sk-second')}${entry('c', 'openai/c', 'api_key: sk-first')}general_settings: { master_key: sk-master }\n`,
    );
    assert.ok(!JSON.stringify(result).includes('sk-'));
    assert.deepEqual(
      result.config.endpoints?.map(({ credential }) => credential),
      ['RELAY_SECRET_OPENAI', 'RELAY_SECRET_OPENAI_2', 'RELAY_SECRET_OPENAI'],
    );
    assert.deepEqual(
      result.remarks.filter(({ path }) => path.endsWith('api_key')).map(({ line }) => line),
      [3, 5, 7],
    );
  });

  it('reads a URL from a variable that is set, and reports one that is not', () => {
    const set = imported(`model_list:\n${entry('a', 'hosted_vllm/m', 'api_base: os.environ/BASE')}`);
    assert.deepEqual(set.config.providers, [
      { slug: 'vllm', name: 'vLLM', base_url: 'https://llm.example.com/v1', auth_mode: 'none' },
    ]);
    const unset = imported(`model_list:\n${entry('a', 'hosted_vllm/m', 'api_base: os.environ/NOT_SET')}`);
    assert.equal(unset.config.lanes, undefined);
    assert.match(unset.remarks.map(({ reason }) => reason).join(' '), /NOT_SET/);
  });

  it('finds keys and URLs in the credential list, also for entries without a key', () => {
    const result = imported(
      `model_list:\n${entry('a', 'openai/a', 'litellm_credential_name: ours, seed: 1')}${entry('b', 'openai/b', 'seed: 1')}credential_list:\n  - credential_name: ours\n    credential_values: { api_key: os.environ/OURS, api_base: https://ours.example.com/v1, region: eu }\n`,
    );
    assert.deepEqual(
      result.config.credentials?.map(({ secret_ref }) => secret_ref),
      ['env:OURS', 'env:OPENAI_API_KEY'],
    );
    assert.equal(result.config.providers?.[0]?.base_url, 'https://ours.example.com/v1');
    assert.deepEqual(placed(result), [
      ['not_imported', 3, 'model_list[0].litellm_params.seed'],
      ['changed', 5, 'model_list[1].litellm_params.model'],
      ['not_imported', 5, 'model_list[1].litellm_params.seed'],
      ['not_imported', 8, 'credential_list[0].credential_values.region'],
    ]);
  });

  it('creates one provider for each URL, and a lane for each alias', () => {
    const { config } = imported(
      `model_list:\n${entry('a', 'openai/a', 'api_key: os.environ/K, api_base: https://one.example.com/v1/')}${entry('b', 'openai/b', 'api_key: os.environ/K, api_base: https://two.example.com/v1')}${entry('c', 'azure/c', 'api_key: os.environ/K, api_base: https://x.openai.azure.com')}router_settings:\n  model_group_alias: { best: a }\n`,
    );
    assert.deepEqual(
      config.providers?.map(({ name, base_url }) => [name, base_url]),
      [
        ['OpenAI', 'https://one.example.com/v1'],
        ['OpenAI at two.example.com', 'https://two.example.com/v1'],
        ['Azure OpenAI', 'https://x.openai.azure.com/openai/v1'],
      ],
    );
    assert.deepEqual(
      config.memberships?.filter(({ lane }) => lane === 'best').map(({ endpoint }) => endpoint),
      ['a'],
    );
  });

  it('keeps the version of an API, and names the preset with the quirks of the provider', () => {
    const azure = (model: string, version: string, base = 'https://x.openai.azure.com') =>
      entry(model, `azure/${model}`, `api_key: os.environ/K, api_base: ${base}, api_version: ${version}`);
    const result = imported(
      `model_list:\n${azure('a', '"2024-10-21"')}${azure('b', '"2024-10-21"', 'https://x.openai.azure.com/openai/deployments/b/')}${azure('c', '"2025-04-01-preview"')}${azure('d', 'preview')}${azure('e', 'v1')}${entry('f', 'ollama/f', 'api_key: os.environ/K')}${entry('g', 'custom_openai/g', 'api_key: os.environ/K, api_base: https://llm.example.com, api_version: "2"')}`,
    );
    const at = 'https://x.openai.azure.com/openai';
    const version = (text: string) => ({ 'api-version': text });
    assert.deepEqual(
      result.config.providers?.map((each) => [
        each.base_url,
        each.preset_slug,
        each.extra_query,
        each.auth_mode,
      ]),
      [
        [at, 'azure-openai-classic', version('2024-10-21'), 'header_static'],
        [at, 'azure-openai-classic', version('2025-04-01-preview'), 'header_static'],
        [`${at}/v1`, 'azure-openai', version('preview'), 'header_static'],
        [`${at}/v1`, 'azure-openai', undefined, 'header_static'],
        ['http://localhost:11434/v1', 'ollama', undefined, 'bearer_static'],
        ['https://llm.example.com', undefined, version('2'), 'bearer_static'],
      ],
    );
    assert.deepEqual(placed(result), [
      ['changed', 9, 'model_list[3].litellm_params.model'],
      ['changed', 11, 'model_list[4].litellm_params.model'],
    ]);
  });
});
