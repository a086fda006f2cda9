import type { InferenceBody } from '../../protocols/request-body.ts';
import type { UpstreamHead } from '../exchange.ts';

/** OpenAI and most others, Anthropic, Azure. */
const NAMES = ['x-request-id', 'request-id', 'apim-request-id'] as const;
const ID_FORM = /^[\w.:/+=-]{1,128}$/;
/** A larger request takes too long to compare with the ID, so none is kept. */
const REQUEST_BYTES_MAX = 1_048_576;

/**
 * The provider's ID of a request, for the record. The client gets Relay's own, by which the record is found. Null for what is not an
 * ID, or repeats the credential or a part of the request: a record has neither.
 */
export function upstreamRequestId(
  head: UpstreamHead | null,
  { bytes }: Pick<InferenceBody, 'bytes'>,
  secret: string | null,
): string | null {
  const sent = NAMES.map((name) => head?.headers[name]).find((value) => value !== undefined);
  if (typeof sent !== 'string' || !ID_FORM.test(sent) || bytes.length > REQUEST_BYTES_MAX) return null;
  return (secret !== null && sent.includes(secret)) || bytes.includes(sent) ? null : sent;
}
