import type { IncomingHttpHeaders } from 'node:http';
import { headersToProvider } from '@relay/contract';
import type { HeaderRules } from '../../protocols/protocol.ts';

/** The client's headers that every request carries to a provider, whatever their protocols. */
const FORWARDED = headersToProvider.filter(({ only }) => only === null).map(({ name }) => name);
const TRACEPARENT = 'traceparent';

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
    const value = name === TRACEPARENT && traceparent !== null ? traceparent : client[name];
    if (typeof value === 'string') list.push(name, value);
  };
  FORWARDED.forEach(forward);
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
