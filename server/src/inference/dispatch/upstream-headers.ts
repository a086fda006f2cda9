import type { IncomingHttpHeaders } from 'node:http';

// The client headers that providers receive. An allowlist keeps identity, cookies, forwarding headers and Relay's own headers
// back without naming them.
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
 * The headers of every upstream request except its authentication; names and values in turn. `plain`: Relay or a guardrail reads
 * the answer before the client, so it must not be encoded.
 */
export function upstreamHeaders(client: IncomingHttpHeaders, plain: boolean): string[] {
  const list = ['content-type', 'application/json'];
  for (const name of FORWARDED) {
    const value = client[name];
    if (typeof value === 'string') list.push(name, value);
  }
  list.push('accept-encoding', plain ? 'identity' : readableEncodings(client['accept-encoding']));
  return list;
}

/** Relay reads usage from the answer, so it accepts only encodings that it can decode. */
function readableEncodings(accepted: string | string[] | undefined): string {
  if (typeof accepted !== 'string') return 'identity';
  const kept = accepted.split(',').map((part) => part.trim().replaceAll(' ', ''));
  return kept.filter((part) => READABLE_ENCODINGS.test(part)).join(', ') || 'identity';
}
