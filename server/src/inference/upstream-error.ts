import { errors } from '@relay/contract';
import { RelayError } from '../domain/relay-error.ts';
import type { Candidate } from '../domain/routing/routing.ts';
import type { AttemptFault, Exchange } from './exchange.ts';

/** The 502 for an attempt without an answer. It names what failed, and nothing that a provider said. */
export function faultError(exchange: Exchange, candidate: Candidate, fault: AttemptFault): RelayError {
  const who = nameOf(exchange, candidate);
  const internal = fault.internal ?? fault.why;
  const retry = fault.retry ?? errors[fault.code].retry;
  return new RelayError(fault.code, { message: messageOf(who, fault, retry), retry, internal });
}

function messageOf(who: string, { code, why }: AttemptFault, retry: boolean): string {
  switch (code) {
    case 'internal_error':
      return `Relay could not send the request to a provider: ${why}. Retry; if it happens again, ask the operator to look at the process that answered.`;
    case 'upstream_unreachable':
      return `${who} is unreachable: ${why}. Retry; if it happens again, test the provider.`;
    case 'upstream_timeout':
      return `${who} did not respond in time: ${why}. Retry, lower max tokens, or raise max_latency_ms.`;
    case 'upstream_invalid_response':
      return `${who} sent an invalid response: ${why}. ${retry ? 'Retry; if it happens again, check' : 'Check'} the provider’s base URL.`;
    case 'upstream_not_prepared':
      return `${who} has no usable credential or address: ${why}. Check the provider’s credential and base URL.`;
  }
}

const REJECTIONS: Readonly<Record<number, string>> = {
  401: 'rejected Relay’s credential (401)',
  402: 'requires payment for this credential (402)',
  403: 'refused this model or account (403)',
  407: 'is behind a proxy that requires credentials (407)',
};

/** The 502 in place of an answer about Relay's own credential or address. */
export function rejectionError(
  exchange: Exchange,
  candidate: Candidate,
  rejects: 'credential' | 'address',
  status: number,
): RelayError {
  const who = nameOf(exchange, candidate);
  if (rejects === 'address') {
    const message = `${who} returned a redirect (${status}), which Relay does not follow. Set the provider’s base URL to the final address.`;
    return new RelayError('upstream_redirected', { message });
  }
  const what = REJECTIONS[status] ?? `rejected Relay’s credential (${status})`;
  const message = `${who} ${what}. Check the credential and the account at the provider; the request log has the provider’s message.`;
  return new RelayError('upstream_credential_refused', { message });
}

/** Names and host are the organization's own configuration. */
function nameOf({ attempts }: Exchange, { endpoint, provider, origin }: Candidate): string {
  const tried = new Set(attempts.map(({ endpointId }) => endpointId)).size;
  const name = `ndpoint "${endpoint.name}" of provider "${provider.name}" (${new URL(origin).host})`;
  return tried > 1
    ? `None of the ${tried} candidates that Relay tried succeeded. The last one, e${name},`
    : `E${name}`;
}
