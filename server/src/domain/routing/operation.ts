/** The three inference operations that reach a provider. */
export type Operation = 'chat' | 'responses' | 'embeddings';

/** What an endpoint serves: one of them, or all. */
export type RouteKind = Operation | 'multi';

export const operationPaths: Record<Operation, string> = {
  chat: '/chat/completions',
  responses: '/responses',
  embeddings: '/embeddings',
};

export function serves(kind: RouteKind, operation: Operation): boolean {
  return kind === 'multi' || kind === operation;
}
