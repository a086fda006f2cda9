import { errorBody, type Refusal } from '../openai-error.ts';
import type { RequestLogEntry } from '../request-log.ts';
import { anthropicErrorBody } from './anthropic-error.ts';

type Asked = Pick<RequestLogEntry, 'path' | 'rawHeaders' | 'id'>;

/** Whether the request is one of Anthropic's API: by its path, or for a list of models by the version that it names. */
export function isAnthropic({ path, rawHeaders }: Asked): boolean {
  if (path.startsWith('/v1/messages')) return true;
  return path.startsWith('/v1/models') && anthropicVersion(rawHeaders) !== null;
}

function anthropicVersion(rawHeaders: readonly string[]): string | null {
  const at = rawHeaders.findIndex(
    (name, index) => index % 2 === 0 && name.toLowerCase() === 'anthropic-version',
  );
  return at < 0 ? null : (rawHeaders[at + 1] ?? '');
}

/** An error as clients of the API that was called expect it. */
export function errorBodyFor(entry: Asked, given: Refusal): string {
  return isAnthropic(entry) ? anthropicErrorBody(given, requestIdOf(entry)) : errorBody(given);
}

export function requestIdOf({ id }: Pick<Asked, 'id'>): string {
  return `req_sim_${id}`;
}
