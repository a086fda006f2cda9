import { type Ask, createdAtSeconds, type Operation } from './ask.ts';

export interface SimModel {
  id: string;
  /** The operations it serves; all of them unless given. */
  operations?: Operation[];
  ownedBy?: string;
  /** Size of its vectors; 1536 unless given. */
  dimensions?: number;
}

const generative: Operation[] = ['chat', 'responses'];

export const modelsDefault: SimModel[] = [
  { id: 'sim-multi', dimensions: 64 },
  { id: 'sim-chat', operations: generative },
  { id: 'sim-chat-b', operations: generative },
  { id: 'sim-embed', operations: ['embeddings'], dimensions: 64 },
  { id: 'gpt-4o', operations: generative, ownedBy: 'system' },
  { id: 'gpt-4o-mini', operations: generative, ownedBy: 'system' },
  { id: 'gpt-4.1-mini', operations: generative, ownedBy: 'system' },
  { id: 'text-embedding-3-small', operations: ['embeddings'], ownedBy: 'system' },
  { id: 'text-embedding-3-large', operations: ['embeddings'], ownedBy: 'system', dimensions: 3072 },
];

/** The list, or one model of it. */
export function readModels(models: SimModel[], id: string | null): Ask | null {
  const objects = models.map((model) => ({
    id: model.id,
    object: 'model',
    created: createdAtSeconds,
    owned_by: model.ownedBy ?? 'relay-sim',
  }));
  const one = objects.find((model) => model.id === id);
  if (id !== null && one === undefined) return null;
  const body = `${JSON.stringify(id === null ? { object: 'list', data: objects } : one)}\n`;
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
