import type { IncomingHttpHeaders } from 'node:http';

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
 * What every upstream request carries besides its authentication; names and values in turn. `plain`: the answer is read on its
 * way, by frames or by a guardrail, and must not be encoded.
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

/** Usage has to be read on the way through, so only encodings that can be decoded here are asked for. */
function readableEncodings(accepted: string | string[] | undefined): string {
  if (typeof accepted !== 'string') return 'identity';
  const kept = accepted.split(',').map((part) => part.trim().replaceAll(' ', ''));
  return kept.filter((part) => READABLE_ENCODINGS.test(part)).join(', ') || 'identity';
}
