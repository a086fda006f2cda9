import type { ProviderPreset } from '@relay/contract';

export type Quirks = ProviderPreset['quirks'];

/** What a preset fills in when a provider is created. */
export type PresetSettings = Pick<
  ProviderPreset,
  'base_url' | 'auth_mode' | 'auth_header_name' | 'extra_headers' | 'extra_query'
>;

export const NO_QUIRKS: Quirks = {
  path_prefix: '',
  dropped_parameters: [],
  accepted_parameters: [],
  renamed_parameters: {},
};

/**
 * Who asks, and what a cache goes by. The answer is the same without them, and many compatible providers reject requests that have them
 * (Gemini, Mistral, NVIDIA), which agents do with each request: a translation sends them where they are known to be accepted.
 */
export const OPTIONAL_PARAMETERS = [
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
] as const;

type OptionalParameter = (typeof OPTIONAL_PARAMETERS)[number];

const accepts = (...names: readonly OptionalParameter[]) => ({
  quirks: { accepted_parameters: [...names] },
});

const MODEL_LIST_DEFAULT = 'models';
/** The older name of the limit, for providers that reject or ignore the newer one. */
const OLDER_LIMIT = { renamed_parameters: { max_completion_tokens: 'max_tokens' } };

/**
 * Every provider that Relay knows. All that is particular to one is data here, and no code names a provider: a new provider is a new
 * row, held against the example in its documentation by `npm run system -- presets`.
 */
export const providerPresets: readonly ProviderPreset[] = [
  preset('openai', 'OpenAI', 'https://api.openai.com/v1', {
    ...accepts(...OPTIONAL_PARAMETERS),
    documentation: 'https://platform.openai.com/docs/api-reference/chat/create',
  }),
  preset('anthropic', 'Anthropic', 'https://api.anthropic.com/v1', {
    protocol: 'anthropic',
    ...byHeader('x-api-key'),
    documentation: 'https://docs.claude.com/en/api/messages',
  }),
  preset('azure-openai', 'Azure OpenAI', 'https://{resource}.openai.azure.com/openai/v1', {
    ...byHeader('api-key'),
    ...accepts('user'),
    documentation: 'https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle',
  }),
  preset('azure-openai-classic', 'Azure OpenAI (classic)', 'https://{resource}.openai.azure.com/openai', {
    ...byHeader('api-key'),
    extra_query: { 'api-version': '2024-10-21' },
    // The list there is of models that can be deployed, and requests name deployments.
    model_list: null,
    quirks: { path_prefix: '/deployments/{model}', accepted_parameters: ['user'] },
    documentation: 'https://learn.microsoft.com/azure/ai-services/openai/reference',
  }),
  preset('bedrock', 'Amazon Bedrock', 'https://bedrock-runtime.{region}.amazonaws.com/openai/v1', {
    auth_mode: 'aws_sigv4',
    model_list: null,
    documentation: 'https://docs.aws.amazon.com/bedrock/latest/userguide/inference-chat-completions.html',
  }),
  preset(
    'vertex',
    'Google Vertex AI',
    'https://{location}-aiplatform.googleapis.com/v1/projects/{project}/locations/{location}/endpoints/openapi',
    {
      auth_mode: 'google_service_account',
      model_list: null,
      documentation: 'https://cloud.google.com/vertex-ai/generative-ai/docs/migrate/openai/overview',
    },
  ),
  preset('google-gemini', 'Google Gemini', 'https://generativelanguage.googleapis.com/v1beta/openai', {
    documentation: 'https://ai.google.dev/gemini-api/docs/openai',
  }),
  preset('mistral', 'Mistral', 'https://api.mistral.ai/v1', {
    quirks: { dropped_parameters: ['stream_options'], ...OLDER_LIMIT },
    documentation: 'https://docs.mistral.ai/api/',
  }),
  preset('groq', 'Groq', 'https://api.groq.com/openai/v1', {
    ...accepts('user'),
    documentation: 'https://console.groq.com/docs/openai',
  }),
  preset('together', 'Together AI', 'https://api.together.ai/v1', {
    documentation: 'https://docs.together.ai/docs/inference/openai-compatibility',
  }),
  preset('fireworks', 'Fireworks', 'https://api.fireworks.ai/inference/v1', {
    ...accepts('user', 'prompt_cache_key'),
    documentation: 'https://docs.fireworks.ai/tools-sdks/openai-compatibility',
  }),
  preset('openrouter', 'OpenRouter', 'https://openrouter.ai/api/v1', {
    extra_headers: { 'X-Title': 'Relay' },
    ...accepts('user', 'prompt_cache_key'),
    documentation: 'https://openrouter.ai/docs/api-reference/overview',
  }),
  preset('deepseek', 'DeepSeek', 'https://api.deepseek.com', {
    quirks: OLDER_LIMIT,
    documentation: 'https://api-docs.deepseek.com/',
  }),
  preset('xai', 'xAI', 'https://api.x.ai/v1', {
    ...accepts('user'),
    documentation: 'https://docs.x.ai/docs/api-reference',
  }),
  preset('cerebras', 'Cerebras', 'https://api.cerebras.ai/v1', {
    ...accepts('user'),
    documentation: 'https://inference-docs.cerebras.ai/resources/openai',
  }),
  // It serves responses alone since September 2026.
  preset('perplexity', 'Perplexity', 'https://api.perplexity.ai/v1', {
    route_kind: 'responses',
    documentation: 'https://docs.perplexity.ai/docs/grounded-llm/openai-compatibility',
  }),
  preset('cohere', 'Cohere', 'https://api.cohere.ai/compatibility/v1', {
    // The compatible interface has no list; the host's own interface does.
    model_list: '/v1/models',
    quirks: { dropped_parameters: ['stream_options'], ...OLDER_LIMIT },
    documentation: 'https://docs.cohere.com/docs/compatibility-api',
  }),
  local('vllm', 'vLLM', 8000, {
    ...accepts('user'),
    documentation: 'https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html',
  }),
  local('sglang', 'SGLang', 30_000, {
    documentation: 'https://docs.sglang.ai/basic_usage/openai_api_completions.html',
  }),
  local('ollama', 'Ollama', 11_434, {
    quirks: OLDER_LIMIT,
    documentation: 'https://docs.ollama.com/api/openai-compatibility',
  }),
  local('lm-studio', 'LM Studio', 1234, {
    quirks: OLDER_LIMIT,
    documentation: 'https://lmstudio.ai/docs/developer/openai-compat',
  }),
  local('llama-cpp', 'llama.cpp', 8080, {
    documentation: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md',
  }),
  preset('openai-compatible', 'OpenAI-compatible', 'https://{host}/v1', {
    documentation: 'https://platform.openai.com/docs/api-reference/chat/create',
  }),
];

const bySlug = new Map(providerPresets.map((each) => [each.slug, each]));

export function providerPresetOf(slug: string | null | undefined): ProviderPreset | undefined {
  return slug === null || slug === undefined ? undefined : bySlug.get(slug);
}

/** A provider with a preset of its own name, or with none, has no quirks. */
export function quirksOf(slug: string | null): Quirks {
  return providerPresetOf(slug)?.quirks ?? NO_QUIRKS;
}

/** Relative to the base URL; null when the provider lists its models nowhere. */
export function modelListOf(slug: string | null): string | null {
  const known = providerPresetOf(slug);
  return known === undefined ? MODEL_LIST_DEFAULT : known.model_list;
}

/** Empty for a preset that Relay does not know. */
export function presetSettings(slug: string | null | undefined): Partial<PresetSettings> {
  const known = providerPresetOf(slug);
  if (known === undefined) return {};
  const { base_url, auth_mode, auth_header_name, extra_headers, extra_query } = known;
  return { base_url, auth_mode, auth_header_name, extra_headers, extra_query };
}

type Particulars = Partial<Omit<ProviderPreset, 'slug' | 'name' | 'base_url' | 'quirks'>> &
  Pick<ProviderPreset, 'documentation'> & { readonly quirks?: Partial<Quirks> };

function preset(
  slug: string,
  name: string,
  baseUrl: string,
  { quirks, ...particulars }: Particulars,
): ProviderPreset {
  return {
    slug,
    name,
    base_url: baseUrl,
    protocol: 'openai',
    route_kind: 'multi',
    auth_mode: 'bearer_static',
    auth_header_name: null,
    extra_headers: null,
    extra_query: null,
    model_list: MODEL_LIST_DEFAULT,
    quirks: { ...NO_QUIRKS, ...quirks },
    ...particulars,
  };
}

function local(slug: string, name: string, port: number, particulars: Particulars): ProviderPreset {
  return preset(slug, name, `http://127.0.0.1:${port}/v1`, { auth_mode: 'none', ...particulars });
}

function byHeader(name: string): Pick<ProviderPreset, 'auth_mode' | 'auth_header_name'> {
  return { auth_mode: 'header_static', auth_header_name: name };
}
