import { isAnthropic, requestIdOf } from './anthropic/dialect.ts';
import type { Exchange } from './exchange.ts';
import { type Fault, faultCount } from './fault.ts';

const fillerBytes = 1024;
const hugeHeadersBytesDefault = 65_536;

export interface Head {
  status: number;
  contentType: string | null;
  /** Null leaves the body chunked. */
  contentLength: number | null;
}

/** Writes the head, with whatever a fault adds to it. */
export function writeHead(exchange: Exchange, head: Head, fault: Fault): void {
  const { res, entry } = exchange;
  const anthropic = isAnthropic(entry);
  const fields: string[] = anthropic
    ? ['request-id', requestIdOf(entry)]
    : ['x-request-id', requestIdOf(entry), 'openai-version', '2020-10-01'];
  if (head.contentType !== null) fields.push('content-type', fault.contentType ?? head.contentType);
  if (head.contentLength !== null && fault.trailers !== true) {
    fields.push('content-length', String(head.contentLength));
  }
  if (fault.retryAfter !== undefined) fields.push('retry-after', String(fault.retryAfter));
  if (fault.redirectTo !== undefined) fields.push('location', fault.redirectTo);
  if (fault.encoding !== undefined) fields.push('content-encoding', fault.encoding);
  if (fault.trailers === true) fields.push('trailer', 'x-sim-trailer');
  if (fault.connectionClose === true || fault.early === true) fields.push('connection', 'close');
  if (fault.rateLimitHeaders === true)
    fields.push(...(anthropic ? anthropicRateLimitFields : rateLimitFields));
  const huge = faultCount(fault.hugeHeaders, hugeHeadersBytesDefault) ?? 0;
  for (let index = 0; index * fillerBytes < huge; index += 1) {
    fields.push(`x-sim-filler-${index}`, 'x'.repeat(fillerBytes - 20));
  }
  for (const [name, value] of Object.entries(fault.headers ?? {}))
    setField(fields, name.toLowerCase(), value);
  entry.status = head.status;
  res.writeHead(head.status, fields);
}

const rateLimitFields = [
  ['x-ratelimit-limit-requests', '5000'],
  ['x-ratelimit-limit-tokens', '2000000'],
  ['x-ratelimit-remaining-requests', '4999'],
  ['x-ratelimit-remaining-tokens', '1999985'],
  ['x-ratelimit-reset-requests', '12ms'],
  ['x-ratelimit-reset-tokens', '0s'],
].flat();

const anthropicRateLimitFields = [
  ['anthropic-ratelimit-requests-limit', '4000'],
  ['anthropic-ratelimit-requests-remaining', '3999'],
  ['anthropic-ratelimit-requests-reset', '2026-01-01T00:00:00Z'],
  ['anthropic-ratelimit-tokens-limit', '480000'],
  ['anthropic-ratelimit-tokens-remaining', '480000'],
  ['anthropic-organization-id', '00000000-0000-4000-8000-000000000000'],
].flat();

function setField(fields: string[], name: string, value: string): void {
  for (let index = 0; index < fields.length; index += 2) {
    if (fields[index] === name) {
      fields[index + 1] = value;
      return;
    }
  }
  fields.push(name, value);
}
