import type { Operation } from '@relay/contract';
import { providerPresetOf } from './provider-presets.ts';

/** `gen_ai.operation.name` in OpenTelemetry's conventions, of the version that `kit/tracing/otlp.ts` pins. The last one is not in them. */
const OPERATIONS: Readonly<Record<Operation, string>> = {
  chat: 'chat',
  responses: 'chat',
  messages: 'chat',
  embeddings: 'embeddings',
  count_tokens: 'count_tokens',
};

/** `gen_ai.provider.name` of the presets that the conventions know by another name. */
const PROVIDERS: Readonly<Record<string, string>> = {
  'azure-openai': 'azure.ai.openai',
  'azure-openai-classic': 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  vertex: 'gcp.vertex_ai',
  'google-gemini': 'gcp.gemini',
  mistral: 'mistral_ai',
  xai: 'x_ai',
};
const OTHER = 'custom';

export function genAiOperation(operation: Operation): string {
  return OPERATIONS[operation];
}

/** One of the presets at most, so that it can be a label of a metric. */
export function genAiProvider(presetSlug: string | null): string {
  const known = providerPresetOf(presetSlug);
  return known === undefined ? OTHER : (PROVIDERS[known.slug] ?? known.slug);
}
