import { type FailureReason, failureReasonOf } from '../../kit/egress/index.ts';
import type { AttemptFault } from '../exchange.ts';

/** What clients and health say about a failed connection: no part of the error itself. */
const FAILURE_WORDS: Readonly<Record<FailureReason, Pick<AttemptFault, 'code' | 'why'>>> = {
  address_refused: {
    code: 'upstream_not_prepared',
    why: 'its host is or resolves to a private, loopback or reserved address, which this deployment does not allow',
  },
  local_resources: {
    code: 'internal_error',
    why: 'the Relay process has no free file descriptor or memory for another connection',
  },
  dns_failed: { code: 'upstream_unreachable', why: 'the host name does not resolve' },
  connection_refused: { code: 'upstream_unreachable', why: 'connection refused' },
  connection_failed: { code: 'upstream_unreachable', why: 'the connection was closed before a response' },
  tls_failed: {
    code: 'upstream_unreachable',
    why: 'TLS failed: the certificate is not trusted, expired or for another name, or the port does not use TLS',
  },
  timed_out: { code: 'upstream_timeout', why: 'the connection timed out' },
  invalid_response: {
    code: 'upstream_invalid_response',
    why: 'the response is not HTTP, or its headers are too large',
  },
};
/** By the code of the TLS library. Other certificates that it rejects, and ports without TLS, share one sentence. */
const CERTIFICATE_WORDS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'TLS failed: the certificate has expired',
  CERT_NOT_YET_VALID: 'TLS failed: the certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'TLS failed: the certificate is for another name',
};
const CUT_OFF = { code: 'upstream_invalid_response', why: 'the response was cut off', retry: true } as const;

/** `connected`: the request was sent. */
export function connectionFaultOf(error: Error, connected: boolean): Pick<AttemptFault, 'code' | 'why'> {
  const reason = failureReasonOf(error, connected);
  const { code, why } = FAILURE_WORDS[reason];
  const tlsCode = 'code' in error && reason === 'tls_failed' ? String(error.code) : '';
  return { code, why: CERTIFICATE_WORDS[tlsCode] ?? why };
}

/** `answering`: the head had arrived, so the failure is an incomplete answer and not a failed connection. */
export function failureOf(error: Error, answering: boolean): AttemptFault {
  const cutOff = answering && failureReasonOf(error, answering) === 'connection_failed';
  return { ...(cutOff ? CUT_OFF : connectionFaultOf(error, answering)), internal: error.message };
}
