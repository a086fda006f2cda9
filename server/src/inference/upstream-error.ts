import { RelayError } from '../domain/relay-error.ts';
import type { Candidate } from '../domain/routing/routing.ts';
import type { AttemptFault, Exchange } from './exchange.ts';

/** The 502 for an attempt without an answer. It names what failed, and nothing that a provider said. */
export function faultError(exchange: Exchange, candidate: Candidate, fault: AttemptFault): RelayError {
  const who = nameOf(exchange, candidate);
  const internal = fault.internal ?? fault.why;
  return new RelayError(fault.code, { message: messageOf(who, fault), internal });
}

function messageOf(who: string, { code, why }: AttemptFault): string {
  switch (code) {
    case 'upstream_unreachable':
      return `${who} could not be reached: ${why}. Retry; when it repeats, test the provider.`;
    case 'upstream_timeout':
      return `${who} did not answer in time: ${why}. Retry, ask for less output, or raise the time it may take.`;
    case 'upstream_invalid_response':
      return `${who} sent an answer that cannot be read: ${why}. Retry; when it repeats, check the base URL of the provider.`;
    case 'upstream_not_prepared':
      return `${who} could not be called: ${why}. Check the credential and the base URL of the provider.`;
  }
}

const REJECTIONS: Readonly<Record<number, string>> = {
  401: 'refused the credential that Relay sent (401)',
  402: 'wants to be paid before it serves this credential (402)',
  403: 'does not allow this call with the credential that Relay sent (403)',
  407: 'is behind a proxy that asks for credentials (407)',
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
    const message = `${who} answered with a redirect (${status}), and Relay does not follow redirects. Set the base URL of the provider to the address that answers.`;
    return new RelayError('upstream_redirected', { message });
  }
  const what = REJECTIONS[status] ?? `refused the credential that Relay sent (${status})`;
  const message = `${who} ${what}. Check the credential and the account at the provider; the details of this request have its own text.`;
  return new RelayError('upstream_credential_refused', { message });
}

/** Names and host are the organization's own configuration. */
function nameOf({ attempts }: Exchange, { endpoint, provider, origin }: Candidate): string {
  const tried = new Set(attempts.map(({ endpointId }) => endpointId)).size;
  const name = `ndpoint "${endpoint.name}" of provider "${provider.name}" (${new URL(origin).host})`;
  return tried > 1 ? `None of ${tried} candidates answered. The last one, e${name},` : `E${name}`;
}
