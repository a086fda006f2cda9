import { headers } from '@relay/contract';
import { capitalized } from '@relay/contract/words';
import { RelayError } from '../../domain/relay-error.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function isId(text: string): boolean {
  return UUID.test(text);
}

/** What people call a kind of resource: 'API key limit' for `api_key_limit_policy`. */
export function nounOf(kind: string): string {
  return kind
    .replaceAll('_', ' ')
    .replace('api key', 'API key')
    .replace('user limit', 'member limit')
    .replace('limit policy', 'limit');
}

/** The same error for an unknown id, an id of another organization and text that is not an id. */
export function notFound(kind: string): RelayError {
  return new RelayError('not_found', {
    message: `${capitalized(nounOf(kind))} not found, or you have no access to it. Check the ID.`,
  });
}

export function invalidField(param: string, message: string): RelayError {
  return new RelayError('invalid_request', { param, message });
}

export function conflict(param: string | null, message: string): RelayError {
  return new RelayError('conflict', { param, message });
}

/**
 * The body names a resource that does not exist in this organization. As with a path, the error is the same for an id of
 * another organization.
 */
export function unknownReference(param: string, kind: string): RelayError {
  return new RelayError('not_found', {
    param,
    message: `${param}: no such ${kind} in this organization. Send the ID of an existing one.`,
  });
}

/** Names for a message, shortened to the first few. */
export function listNames(names: readonly string[], shownMax = 5): string {
  const shown = names.slice(0, shownMax).map((name) => `"${name}"`);
  const hidden = names.length - shown.length;
  return hidden > 0 ? `${shown.join(', ')} and ${hidden} more` : shown.join(', ');
}

export function queueFull(message: string, retrySeconds: number): RelayError {
  return new RelayError('queue_full', {
    message,
    headers: { [headers.retryAfter]: String(retrySeconds) },
  });
}
