import type { RouteKind } from './snapshot.ts';

/** The three inference operations that reach a provider. */
export type Operation = 'chat' | 'responses' | 'embeddings';

export const operationPaths: Record<Operation, string> = {
  chat: '/chat/completions',
  responses: '/responses',
  embeddings: '/embeddings',
};

export function serves(kind: RouteKind, operation: Operation): boolean {
  return kind === 'multi' || kind === operation;
}
