import type { healthStates } from './choices.ts';
import { counted } from './count.ts';
import { durationWords } from './duration.ts';

type Health = (typeof healthStates)[number];

/** What the words need of `health_detail`. */
interface HealthDetail {
  readonly reason: string | null;
  readonly since: string | null;
  readonly requests: number;
  readonly error_share: number | null;
}

/** The state of an endpoint or provider as the API returns it. */
export interface SeenHealth {
  readonly health: Health;
  readonly health_detail: HealthDetail;
  /** Until when the provider asked not to be called; providers have none. */
  readonly cooldown_until?: string | null;
}

/** `health_detail.requests` counts this much. */
const COUNTED_MS = 5 * 60_000;
/** Without requests for this long, the state is `unknown`. */
const IDLE_MS = 15 * 60_000;

const names: Readonly<Record<Health, string>> = {
  unknown: 'Idle',
  healthy: 'Healthy',
  degraded: 'Degraded',
  down: 'Down',
  rate_limited: 'Rate-limited',
};

export function healthName(health: Health): string {
  return names[health];
}

/** Down for 40 s: connection refused. */
export function healthSentence(seen: SeenHealth, nowMs: number): string {
  const { health, health_detail: detail, cooldown_until: until } = seen;
  if (health === 'unknown')
    return `${names.unknown}: no requests in the last ${durationWords(IDLE_MS)} or since its configuration changed.`;
  const state = `${names[health]}${sinceWords(detail.since, nowMs)}`;
  const why = detail.reason === null ? '' : `: ${detail.reason.replace(/\.$/, '')}`;
  const leftMs = until == null ? 0 : Date.parse(until) - nowMs;
  const free = leftMs > 0 ? ` Relay sends requests to it again in ${durationWords(leftMs, Math.ceil)}.` : '';
  return `${state}${why}.${free}`;
}

/** 40 requests in the last 5 min, 12.5% failed. */
export function recentWords({ requests, error_share: share }: HealthDetail): string {
  const recent = `${counted(requests, 'request')} in the last ${durationWords(COUNTED_MS)}`;
  if (share === null || requests === 0) return recent;
  return `${recent}, ${share === 0 ? 'none' : shareWords(share, requests)} failed`;
}

/** 12.5%; a share that is not zero or all is never rounded to it. */
function shareWords(share: number, requests: number): string {
  if (share === 1) return requests === 1 ? '1' : 'all';
  const percent = Math.round(share * 1_000) / 10;
  return `${Math.min(99.9, Math.max(0.1, percent))}%`;
}

function sinceWords(since: string | null, nowMs: number): string {
  return since === null ? '' : ` for ${durationWords(Math.max(1_000, nowMs - Date.parse(since)))}`;
}
