/**
 * The request that each provider's documentation shows for one chat message, from the page that the preset names. `KEY` stands for the
 * credential. Written down by hand and not derived from the presets: this is what they are held against.
 */
export interface Example {
  /** What an operator puts in place of `{…}` in the base URL. */
  readonly values?: Readonly<Record<string, string>>;
  readonly url: string;
  readonly model: string;
  /** The headers that carry the credential, or that the provider asks for. */
  readonly headers: Readonly<Record<string, string | RegExp>>;
  /** Null where the documentation has no list of models that requests could name. */
  readonly models: string | null;
  /** What the provider calls the limit of the output. */
  readonly limit: 'max_tokens' | 'max_completion_tokens' | 'max_output_tokens';
  /** Whether it takes `stream_options`. */
  readonly usageOnRequest: boolean;
}

const bearer = { authorization: 'Bearer KEY' };
const newer = { limit: 'max_completion_tokens', usageOnRequest: true } as const;
const older = { limit: 'max_tokens', usageOnRequest: true } as const;
const strict = { limit: 'max_tokens', usageOnRequest: false } as const;

export const examples: Readonly<Record<string, Example>> = {
  openai: {
    url: 'https://api.openai.com/v1/chat/completions',
    model: 'gpt-5.4',
    headers: bearer,
    models: 'https://api.openai.com/v1/models',
    ...newer,
  },
  anthropic: {
    url: 'https://api.anthropic.com/v1/messages',
    model: 'claude-sonnet-4-5',
    headers: { 'x-api-key': 'KEY', 'anthropic-version': '2023-06-01' },
    models: 'https://api.anthropic.com/v1/models?limit=1000',
    limit: 'max_tokens',
    usageOnRequest: false,
  },
  'azure-openai': {
    values: { resource: 'contoso' },
    url: 'https://contoso.openai.azure.com/openai/v1/chat/completions',
    model: 'gpt-4.1-nano',
    headers: { 'api-key': 'KEY' },
    models: 'https://contoso.openai.azure.com/openai/v1/models',
    ...newer,
  },
  'azure-openai-classic': {
    values: { resource: 'contoso' },
    url: 'https://contoso.openai.azure.com/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21',
    model: 'my-deployment',
    headers: { 'api-key': 'KEY' },
    models: null,
    ...newer,
  },
  bedrock: {
    values: { region: 'us-west-2' },
    url: 'https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1/chat/completions',
    model: 'openai.gpt-oss-20b-1:0',
    headers: {
      authorization:
        /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/us-west-2\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date, Signature=[0-9a-f]{64}$/,
      'x-amz-content-sha256': /^[0-9a-f]{64}$/,
      'x-amz-date': /^\d{8}T\d{6}Z$/,
    },
    models: null,
    ...newer,
  },
  vertex: {
    values: { location: 'us-central1', project: 'my-project' },
    url: 'https://us-central1-aiplatform.googleapis.com/v1/projects/my-project/locations/us-central1/endpoints/openapi/chat/completions',
    model: 'google/gemini-2.0-flash-001',
    headers: { authorization: /^Bearer ya29\.\S+$/ },
    models: null,
    ...newer,
  },
  'google-gemini': {
    url: 'https://generativelanguage.googleapis.com/v1beta/openai/chat/completions',
    model: 'gemini-2.5-flash',
    headers: bearer,
    models: 'https://generativelanguage.googleapis.com/v1beta/openai/models',
    ...newer,
  },
  mistral: {
    url: 'https://api.mistral.ai/v1/chat/completions',
    model: 'mistral-small-latest',
    headers: bearer,
    models: 'https://api.mistral.ai/v1/models',
    ...strict,
  },
  groq: {
    url: 'https://api.groq.com/openai/v1/chat/completions',
    model: 'llama-3.3-70b-versatile',
    headers: bearer,
    models: 'https://api.groq.com/openai/v1/models',
    ...newer,
  },
  together: {
    url: 'https://api.together.ai/v1/chat/completions',
    model: 'openai/gpt-oss-20b',
    headers: bearer,
    models: 'https://api.together.ai/v1/models',
    ...newer,
  },
  fireworks: {
    url: 'https://api.fireworks.ai/inference/v1/chat/completions',
    model: 'accounts/fireworks/models/llama-v3p1-8b-instruct',
    headers: bearer,
    models: 'https://api.fireworks.ai/inference/v1/models',
    ...newer,
  },
  openrouter: {
    url: 'https://openrouter.ai/api/v1/chat/completions',
    model: 'openai/gpt-4o',
    headers: { ...bearer, 'x-title': 'Relay' },
    models: 'https://openrouter.ai/api/v1/models',
    ...newer,
  },
  deepseek: {
    url: 'https://api.deepseek.com/chat/completions',
    model: 'deepseek-v4-pro',
    headers: bearer,
    models: 'https://api.deepseek.com/models',
    ...older,
  },
  xai: {
    url: 'https://api.x.ai/v1/chat/completions',
    model: 'grok-4',
    headers: bearer,
    models: 'https://api.x.ai/v1/models',
    ...newer,
  },
  cerebras: {
    url: 'https://api.cerebras.ai/v1/chat/completions',
    model: 'llama-3.3-70b',
    headers: bearer,
    models: 'https://api.cerebras.ai/v1/models',
    ...newer,
  },
  perplexity: {
    url: 'https://api.perplexity.ai/v1/responses',
    model: 'openai/gpt-5.4',
    headers: bearer,
    models: 'https://api.perplexity.ai/v1/models',
    limit: 'max_output_tokens',
    usageOnRequest: false,
  },
  cohere: {
    url: 'https://api.cohere.ai/compatibility/v1/chat/completions',
    model: 'command-a-03-2025',
    headers: bearer,
    models: 'https://api.cohere.ai/v1/models',
    ...strict,
  },
  vllm: {
    url: 'http://127.0.0.1:8000/v1/chat/completions',
    model: 'NousResearch/Meta-Llama-3-8B-Instruct',
    headers: {},
    models: 'http://127.0.0.1:8000/v1/models',
    ...newer,
  },
  sglang: {
    url: 'http://127.0.0.1:30000/v1/chat/completions',
    model: 'qwen/qwen2.5-0.5b-instruct',
    headers: {},
    models: 'http://127.0.0.1:30000/v1/models',
    ...newer,
  },
  ollama: {
    url: 'http://127.0.0.1:11434/v1/chat/completions',
    model: 'gpt-oss:20b',
    headers: {},
    models: 'http://127.0.0.1:11434/v1/models',
    ...older,
  },
  'lm-studio': {
    url: 'http://127.0.0.1:1234/v1/chat/completions',
    model: 'openai/gpt-oss-20b',
    headers: {},
    models: 'http://127.0.0.1:1234/v1/models',
    ...older,
  },
  'llama-cpp': {
    url: 'http://127.0.0.1:8080/v1/chat/completions',
    model: 'gpt-3.5-turbo',
    headers: {},
    models: 'http://127.0.0.1:8080/v1/models',
    ...newer,
  },
  'openai-compatible': {
    values: { host: 'models.example.com' },
    url: 'https://models.example.com/v1/chat/completions',
    model: 'any-model',
    headers: bearer,
    models: 'https://models.example.com/v1/models',
    ...newer,
  },
};
