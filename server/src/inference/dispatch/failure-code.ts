import type { UpstreamFault } from '../../domain/routing/upstream-verdict.ts';
import { AddressRefusedError } from '../../kit/egress/index.ts';

// Errors of undici's parser for an answer that is not HTTP or has an oversized head.
const UNREADABLE = new Set(['HTTPParserError', 'HeadersOverflowError', 'ResponseContentLengthMismatchError']);
const UNASKED_UPGRADE = 'bad upgrade';

/** `answering`: the head had arrived, so the failure is an incomplete answer and not a failed connection. */
export function failureCodeOf(error: Error & { code?: string }, answering: boolean): UpstreamFault {
  if (error instanceof AddressRefusedError || error.cause instanceof AddressRefusedError)
    return 'upstream_not_prepared';
  if (error.code === 'UND_ERR_CONNECT_TIMEOUT') return 'upstream_timeout';
  const unreadable = answering || UNREADABLE.has(error.name) || error.message === UNASKED_UPGRADE;
  return unreadable ? 'upstream_invalid_response' : 'upstream_unreachable';
}
