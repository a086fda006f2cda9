import type { UpstreamHead } from '../exchange.ts';

/** The pause after a provider that asks for none: an immediate attempt would only be refused again. */
const PAUSE_MS_MIN = 100;

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Until when to send no more requests to an endpoint: the provider asked for it with a 429 or 503, or reported that its own limit
 * is used up until then. Null in any other case.
 */
export function cooldownUntilMs(head: UpstreamHead, nowMs: number): number | null {
  const asked = isThrottled(head.status) ? retryAfterMs(head, nowMs) : null;
  const observed = Math.max(usedUpMs(head, 'requests'), usedUpMs(head, 'tokens'));
  const forMs = asked ?? observed;
  return forMs > 0 ? nowMs + forMs : null;
}

/**
 * The provider refused the request and named a time at which to send it again. A request without another candidate waits until
 * then.
 */
export function asksForPause(head: UpstreamHead, nowMs: number): boolean {
  return isThrottled(head.status) && cooldownUntilMs(head, nowMs) !== null;
}

function isThrottled(status: number): boolean {
  return status === 429 || status === 503;
}

/** Null when the provider names no time, or one that cannot be read. A time in the past is now. */
function retryAfterMs({ headers }: UpstreamHead, nowMs: number): number | null {
  const milliseconds = Number(single(headers['retry-after-ms']) || Number.NaN);
  if (milliseconds >= 0) return Math.max(PAUSE_MS_MIN, milliseconds);
  const after = single(headers['retry-after']);
  if (after === '') return null;
  const seconds = Number(after);
  if (!Number.isNaN(seconds)) return seconds < 0 ? null : Math.max(PAUSE_MS_MIN, seconds * 1_000);
  const dateMs = Date.parse(after);
  return Number.isNaN(dateMs) ? null : Math.max(PAUSE_MS_MIN, dateMs - nowMs);
}

/** Time until the provider's own window resets; 0 while it has capacity left or does not report it. */
function usedUpMs({ headers }: UpstreamHead, metric: 'requests' | 'tokens'): number {
  if (single(headers[`x-ratelimit-remaining-${metric}`]) !== '0') return 0;
  return durationMs(single(headers[`x-ratelimit-reset-${metric}`]));
}

/** `1s`, `6m0s`, `120ms`, `1h2m3.5s`, or plain seconds. */
function durationMs(text: string): number {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1_000);
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    sum += Number(amount) * (UNIT_MS[unit ?? ''] ?? 0);
  }
  return Math.ceil(sum);
}

function single(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value)?.trim() ?? '';
}
