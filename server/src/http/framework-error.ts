import type { ErrorCode } from '@relay/contract';
import { sizeWords } from '@relay/contract/words';
import { RelayError } from '../domain/relay-error.ts';

const CODES: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_request',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalid_json',
  FST_ERR_BAD_URL: 'invalid_request',
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
};

/** Turns the web framework's own errors into Relay's; an unknown error is a defect. */
export function asRelayError(thrown: unknown, limits: { readonly bodyBytesMax: number }): RelayError {
  if (thrown instanceof RelayError) return thrown;
  const code = typeof thrown === 'object' && thrown !== null && 'code' in thrown ? String(thrown.code) : '';
  const known = CODES[code] ?? 'internal_error';
  if (known !== 'body_too_large') return new RelayError(known, { cause: thrown });
  return new RelayError(known, {
    message: `The request body is larger than ${sizeWords(limits.bodyBytesMax)}, the maximum. Send a smaller body.`,
    cause: thrown,
  });
}
