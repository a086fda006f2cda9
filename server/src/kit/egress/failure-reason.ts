import { AddressRefusedError } from './egress.ts';

/** Why there was no response. */
export type FailureReason =
  | 'address_refused'
  /** This process has no means for a connection. It says nothing about the other side. */
  | 'local_resources'
  | 'dns_failed'
  | 'connection_refused'
  | 'connection_failed'
  | 'tls_failed'
  | 'timed_out'
  | 'invalid_response';

const DNS = /^(?:EAI_|ENOTFOUND$|ENODATA$|ESERVFAIL$)/;
const TLS =
  /^(?:ERR_SSL_|ERR_TLS_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH$|INVALID_CA$|INVALID_PURPOSE$|PATH_LENGTH_EXCEEDED$|EPROTO$)/;
/** No file descriptor or memory is free. */
const LOCAL = /^(?:EMFILE|ENFILE|ENOBUFS|ENOMEM)$/;
const TIMEOUT = /^(?:UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/;
/** Errors of undici's parser, not all of which have a code: the response is not HTTP, or its headers are too large. */
const UNREADABLE = new Set(['HTTPParserError', 'HeadersOverflowError', 'ResponseContentLengthMismatchError']);
/** undici's message for an unrequested 101. */
const UNREQUESTED_UPGRADE = 'bad upgrade';

/** `connected`: the request was sent, so the failure is in the response. */
export function failureReasonOf(error: Error, connected: boolean): FailureReason {
  if (error instanceof AddressRefusedError || error.cause instanceof AddressRefusedError) {
    return 'address_refused';
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (UNREADABLE.has(error.name) || error.message === UNREQUESTED_UPGRADE) return 'invalid_response';
  if (LOCAL.test(code)) return 'local_resources';
  if (connected) return 'connection_failed';
  if (DNS.test(code)) return 'dns_failed';
  if (TLS.test(code)) return 'tls_failed';
  if (TIMEOUT.test(code)) return 'timed_out';
  return code === 'ECONNREFUSED' ? 'connection_refused' : 'connection_failed';
}
