import type { IncomingHttpHeaders } from 'node:http';
import type { Candidate } from '../../domain/routing/routing.ts';

// What of the client's headers an upstream gets to see. A closed list: identity, cookies, forwarding and
// everything of our own stay behind without having to be known.
const FORWARDED = [
  'accept',
  'user-agent',
  'openai-beta',
  'openai-organization',
  'openai-project',
  'idempotency-key',
  'traceparent',
  'tracestate',
] as const;

const READABLE_ENCODINGS = /^(?:gzip|deflate|br|identity)(?:;q=[\d.]+)?$/;

/**
 * Names and values in turn, or null when the provider needs a credential and has none that can be used. `plain`: the answer is
 * read on its way, piece by piece or by a guardrail, and must not be encoded.
 */
export function upstreamHeaders(
  candidate: Candidate,
  client: IncomingHttpHeaders,
  plain: boolean,
): string[] | null {
  const list = ['content-type', 'application/json'];
  if (candidate.provider.authMode !== 'none') {
    const secret = candidate.credential?.secret?.reveal();
    if (secret === undefined) return null;
    if (candidate.provider.authMode === 'bearer_static') list.push('authorization', `Bearer ${secret}`);
    else list.push(candidate.provider.authHeaderName ?? 'x-api-key', secret);
  }
  for (const name of FORWARDED) {
    const value = client[name];
    if (typeof value === 'string') list.push(name, value);
  }
  list.push('accept-encoding', plain ? 'identity' : readableEncodings(client['accept-encoding']));
  return list;
}

/** Null when the provider wants no authentication, whichever credential it has, or has none that can be used. */
export function sentCredentialId({ provider, credential }: Candidate): string | null {
  return provider.authMode === 'none' || credential?.secret == null ? null : credential.id;
}

/** Usage has to be read on the way through, so only encodings that can be decoded here are asked for. */
function readableEncodings(accepted: string | string[] | undefined): string {
  if (typeof accepted !== 'string') return 'identity';
  const kept = accepted.split(',').map((part) => part.trim().replaceAll(' ', ''));
  return kept.filter((part) => READABLE_ENCODINGS.test(part)).join(', ') || 'identity';
}
