import type { IncomingHttpHeaders } from 'node:http';
import type { HeaderRules } from '../../protocols/protocol.ts';

/**
 * The client headers that providers receive whatever the protocol, each because a provider may need it. The protocol adds its own.
 * - `accept` selects the form of the answer.
 * - `user-agent`: firewalls of providers reject requests without one, and some plans accept only certain clients.
 * - `traceparent` has random ids only; a provider of one's own, such as vLLM, joins its trace with it. Where Relay traces the request,
 *   it names the attempt in place of the client's span.
 *
 * An allowlist keeps back everything else without naming it: credentials, cookies, forwarding headers, Relay's own. Three that
 * were considered:
 * - `openai-organization` and `openai-project` choose who is billed, which is the operator's decision, not the client's.
 * - `idempotency-key`: all clients share the provider's account, so a client could guess another's key and be sent its answer.
 * - `tracestate` and `baggage` hold whatever a company's tracing puts there, such as names of tenants and users.
 */
const FORWARDED = ['accept', 'user-agent'] as const;

const READABLE_ENCODINGS = /^(?:gzip|deflate|br|identity)(?:;q=[\d.]+)?$/;

/**
 * The headers of every upstream request except its authentication; names and values in turn. `plain`: Relay or a guardrail reads
 * the answer before the client, so it must not be encoded. `traceparent`: of the attempt; null where the request is not traced.
 */
export function upstreamHeaders(
  client: IncomingHttpHeaders,
  { forwarded, forwardedPrefix }: Pick<HeaderRules, 'forwarded' | 'forwardedPrefix'>,
  plain: boolean,
  traceparent: string | null,
): string[] {
  const list = ['content-type', 'application/json'];
  const forward = (name: string) => {
    const value = client[name];
    if (typeof value === 'string') list.push(name, value);
  };
  FORWARDED.forEach(forward);
  if (traceparent === null) forward('traceparent');
  else list.push('traceparent', traceparent);
  forwarded.forEach(forward);
  if (forwardedPrefix !== null)
    for (const name of Object.keys(client)) if (name.startsWith(forwardedPrefix)) forward(name);
  list.push('accept-encoding', plain ? 'identity' : readableEncodings(client['accept-encoding']));
  return list;
}

/** Relay reads usage from the answer, so it accepts only encodings that it can decode. */
function readableEncodings(accepted: string | string[] | undefined): string {
  if (typeof accepted !== 'string') return 'identity';
  const kept = accepted.split(',').map((part) => part.trim().replaceAll(' ', ''));
  return kept.filter((part) => READABLE_ENCODINGS.test(part)).join(', ') || 'identity';
}
