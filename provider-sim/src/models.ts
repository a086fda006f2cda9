import { type Ask, createdAtSeconds, type Operation } from './ask.ts';
import type { PersonalityName } from './personalities/index.ts';

export interface SimModel {
  id: string;
  /** The operations it serves; all of them unless given. */
  operations?: Operation[];
  ownedBy?: string;
  /** Answers chat completions as this provider does. */
  personality?: PersonalityName;
  /** Size of its vectors; 1536 unless given. */
  dimensions?: number;
}

const generative: Operation[] = ['chat', 'responses'];
const anthropic: Operation[] = ['messages'];

export const modelsDefault: SimModel[] = [
  { id: 'sim-multi', dimensions: 64 },
  { id: 'sim-chat', operations: generative },
  { id: 'sim-chat-b', operations: generative },
  { id: 'sim-embed', operations: ['embeddings'], dimensions: 64 },
  { id: 'sim-claude', operations: anthropic, ownedBy: 'anthropic' },
  { id: 'claude-opus-5-5', operations: anthropic, ownedBy: 'anthropic' },
  { id: 'gpt-4o', operations: generative, ownedBy: 'system' },
  { id: 'gpt-4o-mini', operations: generative, ownedBy: 'system' },
  { id: 'gpt-4.1-mini', operations: generative, ownedBy: 'system' },
  { id: 'text-embedding-3-small', operations: ['embeddings'], ownedBy: 'system' },
  { id: 'text-embedding-3-large', operations: ['embeddings'], ownedBy: 'system', dimensions: 3072 },
];

/** The list, or one model of it, in the shape of the API that was called. */
export function readModels(models: SimModel[], id: string | null, isAnthropic: boolean): Ask | null {
  const objects = models.map((model) => (isAnthropic ? anthropicModel(model) : openaiModel(model)));
  const one = objects.find((model) => model.id === id);
  if (id !== null && one === undefined) return null;
  const page = { has_more: false, first_id: objects[0]?.id ?? null, last_id: objects.at(-1)?.id ?? null };
  const list = isAnthropic ? { data: objects, ...page } : { object: 'list', data: objects };
  const body = `${JSON.stringify(id === null ? list : one)}\n`;
  return {
    operation: 'models',
    model: id,
    stream: false,
    fault: null,
    unknownFields: [],
    answer: () => ({
      promptTokens: 0,
      completionTokens: 0,
      reported: null,
      body: () => body,
      frames: () => [],
      errorFrame: () => '',
    }),
  };
}

function openaiModel({ id, ownedBy }: SimModel) {
  return { id, object: 'model', created: createdAtSeconds, owned_by: ownedBy ?? 'relay-sim' };
}

function anthropicModel({ id }: SimModel) {
  const created_at = new Date(createdAtSeconds * 1_000).toISOString();
  return { type: 'model', id, display_name: id, created_at };
}
