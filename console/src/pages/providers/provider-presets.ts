import type { ProviderCreate } from '@relay/contract';

export interface ProviderPreset {
  readonly slug: string;
  readonly name: string;
  readonly baseUrl: string;
  readonly authMode: NonNullable<ProviderCreate['auth_mode']>;
  /** In a private network, which the operator must allow. */
  readonly local?: boolean;
}

/** The URLs of these providers' OpenAI-compatible APIs. */
export const providerPresets: readonly ProviderPreset[] = [
  hosted('openai', 'OpenAI', 'https://api.openai.com/v1'),
  hosted('anthropic', 'Anthropic', 'https://api.anthropic.com/v1'),
  hosted('google-gemini', 'Google Gemini', 'https://generativelanguage.googleapis.com/v1beta/openai'),
  hosted('mistral', 'Mistral', 'https://api.mistral.ai/v1'),
  hosted('groq', 'Groq', 'https://api.groq.com/openai/v1'),
  hosted('deepseek', 'DeepSeek', 'https://api.deepseek.com/v1'),
  hosted('xai', 'xAI', 'https://api.x.ai/v1'),
  hosted('together', 'Together AI', 'https://api.together.xyz/v1'),
  hosted('fireworks', 'Fireworks', 'https://api.fireworks.ai/inference/v1'),
  hosted('openrouter', 'OpenRouter', 'https://openrouter.ai/api/v1'),
  local('ollama', 'Ollama', 'http://127.0.0.1:11434/v1'),
  local('vllm', 'vLLM', 'http://127.0.0.1:8000/v1'),
];

function hosted(slug: string, name: string, baseUrl: string): ProviderPreset {
  return { slug, name, baseUrl, authMode: 'bearer_static' };
}

function local(slug: string, name: string, baseUrl: string): ProviderPreset {
  return { slug, name, baseUrl, authMode: 'none', local: true };
}
