/** What public price lists call the providers that Relay has a preset for; the first word is LiteLLM's or models.dev's. */
const PRESETS: Readonly<Record<string, string>> = {
  openai: 'openai',
  'text-completion-openai': 'openai',
  anthropic: 'anthropic',
  azure: 'azure-openai',
  bedrock: 'bedrock',
  bedrock_converse: 'bedrock',
  'amazon-bedrock': 'bedrock',
  gemini: 'google-gemini',
  google: 'google-gemini',
  'google-vertex': 'vertex',
  'google-vertex-anthropic': 'vertex',
  mistral: 'mistral',
  groq: 'groq',
  together_ai: 'together',
  togetherai: 'together',
  fireworks_ai: 'fireworks',
  'fireworks_ai-embedding-models': 'fireworks',
  'fireworks-ai': 'fireworks',
  openrouter: 'openrouter',
  deepseek: 'deepseek',
  xai: 'xai',
  cerebras: 'cerebras',
  perplexity: 'perplexity',
  cohere: 'cohere',
  cohere_chat: 'cohere',
  ollama: 'ollama',
};

/** The preset of a provider; null for one that Relay has none for. */
export function presetOf(provider: string): string | null {
  // LiteLLM has one name for each family of Vertex's models.
  if (provider.startsWith('vertex_ai')) return 'vertex';
  return Object.hasOwn(PRESETS, provider) ? (PRESETS[provider] ?? null) : null;
}
