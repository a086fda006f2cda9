import type { UpstreamHead } from '../exchange.ts';

/** Until when a throttling or overloaded upstream asked to be left alone; null when it did not say. */
export function cooldownUntilMs(head: UpstreamHead, nowMs: number): number | null {
  if (head.status !== 429 && head.status !== 503) return null;
  const milliseconds = Number(single(head.headers['retry-after-ms']));
  if (milliseconds > 0) return nowMs + milliseconds;
  const after = single(head.headers['retry-after']);
  if (after === '') return null;
  const seconds = Number(after);
  if (Number.isFinite(seconds)) return seconds > 0 ? nowMs + seconds * 1_000 : null;
  const dateMs = Date.parse(after);
  return Number.isNaN(dateMs) || dateMs <= nowMs ? null : dateMs;
}

function single(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value)?.trim() ?? '';
}
