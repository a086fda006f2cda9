import { AddressRefusedError } from '../../kit/egress/index.ts';
import type { FailureCode } from '../exchange.ts';

// What the connection's parser says of an answer that is not HTTP, or larger than any head may be.
const UNREADABLE = new Set(['HTTPParserError', 'HeadersOverflowError', 'ResponseContentLengthMismatchError']);
const UNASKED_UPGRADE = 'bad upgrade';

/** `answering`: the head had arrived, so what failed is not the connection but an answer that was cut off. */
export function failureCodeOf(error: Error & { code?: string }, answering: boolean): FailureCode {
  if (error instanceof AddressRefusedError || error.cause instanceof AddressRefusedError)
    return 'upstream_not_prepared';
  if (error.code === 'UND_ERR_CONNECT_TIMEOUT') return 'upstream_timeout';
  const unreadable = answering || UNREADABLE.has(error.name) || error.message === UNASKED_UPGRADE;
  return unreadable ? 'upstream_invalid_response' : 'upstream_unreachable';
}
