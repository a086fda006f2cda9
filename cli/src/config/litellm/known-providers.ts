/** How to reach a LiteLLM provider through its OpenAI-compatible API. */
export interface KnownProvider {
  readonly name: string;
  /** Null if the file must contain the URL. */
  readonly baseUrl: string | null;
  /** The variable LiteLLM reads the key from by default; null if no key is needed. */
  readonly keyVariable: string | null;
  /** The path for a configured URL without one. */
  readonly path?: string;
  /** The preset with the provider's quirks, where it has any. */
  readonly preset?: string;
  /** The header of the key if it is not a bearer token. */
  readonly header?: string;
  /** How this differs from LiteLLM. */
  readonly remark?: string;
}

const OWN = { baseUrl: null, keyVariable: null };
const COMPATIBLE = 'Relay uses this provider’s OpenAI-compatible API.';

export const knownProviders: Readonly<Record<string, KnownProvider>> = {
  openai: { name: 'OpenAI', baseUrl: 'https://api.openai.com/v1', keyVariable: 'OPENAI_API_KEY' },
  azure: {
    name: 'Azure OpenAI',
    baseUrl: null,
    keyVariable: 'AZURE_API_KEY',
    path: '/openai/v1',
    preset: 'azure-openai',
    header: 'api-key',
    remark: 'Requests go to Azure OpenAI’s v1 API, where the model is the deployment name.',
  },
  anthropic: {
    name: 'Anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    keyVariable: 'ANTHROPIC_API_KEY',
    remark: COMPATIBLE,
  },
  gemini: {
    name: 'Gemini',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keyVariable: 'GEMINI_API_KEY',
    remark: COMPATIBLE,
  },
  cohere: {
    name: 'Cohere',
    preset: 'cohere',
    baseUrl: 'https://api.cohere.ai/compatibility/v1',
    keyVariable: 'COHERE_API_KEY',
    remark: COMPATIBLE,
  },
  cohere_chat: {
    name: 'Cohere',
    preset: 'cohere',
    baseUrl: 'https://api.cohere.ai/compatibility/v1',
    keyVariable: 'COHERE_API_KEY',
    remark: COMPATIBLE,
  },
  groq: { name: 'Groq', baseUrl: 'https://api.groq.com/openai/v1', keyVariable: 'GROQ_API_KEY' },
  mistral: {
    name: 'Mistral',
    preset: 'mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    keyVariable: 'MISTRAL_API_KEY',
  },
  deepseek: {
    name: 'DeepSeek',
    preset: 'deepseek',
    baseUrl: 'https://api.deepseek.com/v1',
    keyVariable: 'DEEPSEEK_API_KEY',
  },
  together_ai: {
    name: 'Together',
    baseUrl: 'https://api.together.xyz/v1',
    keyVariable: 'TOGETHERAI_API_KEY',
  },
  fireworks_ai: {
    name: 'Fireworks',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    keyVariable: 'FIREWORKS_AI_API_KEY',
  },
  openrouter: {
    name: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    keyVariable: 'OPENROUTER_API_KEY',
  },
  xai: { name: 'xAI', baseUrl: 'https://api.x.ai/v1', keyVariable: 'XAI_API_KEY' },
  perplexity: {
    name: 'Perplexity',
    baseUrl: 'https://api.perplexity.ai',
    keyVariable: 'PERPLEXITYAI_API_KEY',
  },
  cerebras: { name: 'Cerebras', baseUrl: 'https://api.cerebras.ai/v1', keyVariable: 'CEREBRAS_API_KEY' },
  nvidia_nim: {
    name: 'NVIDIA NIM',
    baseUrl: 'https://integrate.api.nvidia.com/v1',
    keyVariable: 'NVIDIA_NIM_API_KEY',
  },
  deepinfra: {
    name: 'DeepInfra',
    baseUrl: 'https://api.deepinfra.com/v1/openai',
    keyVariable: 'DEEPINFRA_API_KEY',
  },
  sambanova: { name: 'SambaNova', baseUrl: 'https://api.sambanova.ai/v1', keyVariable: 'SAMBANOVA_API_KEY' },
  moonshot: { name: 'Moonshot', baseUrl: 'https://api.moonshot.ai/v1', keyVariable: 'MOONSHOT_API_KEY' },
  dashscope: {
    name: 'DashScope',
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    keyVariable: 'DASHSCOPE_API_KEY',
  },
  nebius: { name: 'Nebius', baseUrl: 'https://api.studio.nebius.ai/v1', keyVariable: 'NEBIUS_API_KEY' },
  hyperbolic: {
    name: 'Hyperbolic',
    baseUrl: 'https://api.hyperbolic.xyz/v1',
    keyVariable: 'HYPERBOLIC_API_KEY',
  },
  databricks: { name: 'Databricks', baseUrl: null, keyVariable: 'DATABRICKS_API_KEY' },
  ollama: {
    name: 'Ollama',
    preset: 'ollama',
    baseUrl: 'http://localhost:11434/v1',
    keyVariable: null,
    path: '/v1',
  },
  ollama_chat: {
    name: 'Ollama',
    preset: 'ollama',
    baseUrl: 'http://localhost:11434/v1',
    keyVariable: null,
    path: '/v1',
  },
  hosted_vllm: { name: 'vLLM', ...OWN },
  vllm: { name: 'vLLM', ...OWN },
  lm_studio: { name: 'LM Studio', preset: 'lm-studio', ...OWN },
  llamafile: { name: 'llamafile', ...OWN },
  xinference: { name: 'Xinference', ...OWN },
  litellm_proxy: { name: 'LiteLLM', ...OWN },
  openai_like: { name: 'OpenAI-compatible', ...OWN },
  custom_openai: { name: 'OpenAI-compatible', ...OWN },
};

const SIGNED =
  'Its requests are signed for a cloud account or use a proprietary format, which the import does not translate. Relay has presets for Amazon Bedrock and Google Vertex AI.';

/** Azure's interface before v1, which names its version in the query and the deployment in the path. */
export const azureClassic: KnownProvider = {
  name: 'Azure OpenAI',
  baseUrl: null,
  keyVariable: 'AZURE_API_KEY',
  path: '/openai',
  preset: 'azure-openai-classic',
  header: 'api-key',
};

/** Providers that Relay does not support, and why. */
export const unsupportedProviders: Readonly<Record<string, string>> = {
  bedrock: SIGNED,
  sagemaker: SIGNED,
  vertex_ai: SIGNED,
  vertex_ai_beta: SIGNED,
  watsonx: SIGNED,
  oci: SIGNED,
  snowflake: SIGNED,
  replicate: SIGNED,
  triton: SIGNED,
  azure_text: 'Relay doesn’t support text completions.',
  'text-completion-openai': 'Relay doesn’t support text completions.',
};

/** The provider LiteLLM assumes for a model without a prefix. */
export function providerOfModel(model: string): string | undefined {
  if (/^(gpt-|chatgpt-|o\d|text-embedding-|codex-)/.test(model)) return 'openai';
  return model.startsWith('claude-') ? 'anthropic' : undefined;
}
