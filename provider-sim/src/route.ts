import type { Operation } from './ask.ts';
import { type Refusal, refusal } from './openai-error.ts';

export type Route = { operation: Operation; id: string | null; refused: null } | { refused: Refusal };

const paths: Record<string, { method: string; operation: Operation }> = {
  '/v1/chat/completions': { method: 'POST', operation: 'chat' },
  '/v1/responses': { method: 'POST', operation: 'responses' },
  '/v1/embeddings': { method: 'POST', operation: 'embeddings' },
  '/v1/messages': { method: 'POST', operation: 'messages' },
  '/v1/messages/count_tokens': { method: 'POST', operation: 'count_tokens' },
  '/v1/models': { method: 'GET', operation: 'models' },
};

/** The path of the same operation at a provider whose base URL ends in `/v1`. */
export function withUsualPrefix(path: string): string {
  return Object.keys(paths).find((known) => path.endsWith(known.slice('/v1'.length))) ?? path;
}

const oneModel = '/v1/models/';

export function routeOf(method: string, path: string): Route {
  const isOne = path.startsWith(oneModel) && path.length > oneModel.length;
  const known = isOne ? { method: 'GET', operation: 'models' as const } : paths[path];
  if (known === undefined) return { refused: refusal(404, `Invalid URL (${method} ${path})`, null, null) };
  if (known.method !== method) {
    return { refused: refusal(405, `Not allowed to ${method} on ${path}.`, 'method_not_supported', null) };
  }
  const id = isOne ? decodeURIComponent(path.slice(oneModel.length)) : null;
  return { operation: known.operation, id, refused: null };
}
