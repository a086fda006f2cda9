import type { LimitUsage } from '@relay/contract';
import { resetTimeMs, windowStartMs } from '../../admission/calendar-window.ts';
import type { PolicyUsage } from '../../admission/engine.ts';
import { tellingForecast } from '../../domain/limits/forecast.ts';
import type { Limit } from '../../domain/limits/limit.ts';
import { isSliding, type SlidingPeriod } from '../../domain/limits/period.ts';

type Outlook = Pick<LimitUsage, 'rate_per_hour' | 'forecast' | 'runs_out_at'>;

const NONE: Outlook = { rate_per_hour: null, forecast: null, runs_out_at: null };
const PER_HOUR: Readonly<Record<SlidingPeriod, number>> = { second: 3_600, minute: 60 };

/** `resets_at` is null when nothing resets: for concurrency, and for an unused short window. */
export function toLimitUsage({ described, applied }: Limit, usage: PolicyUsage, nowMs: number): LimitUsage {
  const { used, reserved, resetMs } = usage;
  const { userId, keyId, teamId = null } = applied.counts;
  const resetAt = resetMs > 0 ? resetTimeMs(described.period, nowMs + resetMs) : null;
  return {
    policy_id: described.id,
    policy_kind: described.policy_kind,
    subject_id: userId ?? keyId ?? teamId,
    scope_type: described.scope_type,
    scope_id: described.scope_id,
    metric: described.metric,
    period: described.period,
    limit: described.limit_value,
    used,
    reserved,
    // Usage can exceed the limit: actual usage may exceed its estimate, or the limit was lowered.
    remaining: Math.max(0, described.limit_value - used - reserved),
    resets_at: resetAt === null ? null : new Date(resetAt).toISOString(),
    ...outlookOf(described, usage, nowMs),
  };
}

/** The part of a limit that is free; none of a limit of 0. */
export function leftShare({ limit, remaining }: LimitUsage): number {
  return limit === 0 ? 0 : remaining / limit;
}

/** What is reserved counts as used: it is what requests that wait or run will use. */
function outlookOf(
  { period, limit_value: limit }: Limit['described'],
  { used: counted, reserved, resetMs }: PolicyUsage,
  nowMs: number,
): Outlook {
  if (period === 'none') return NONE;
  const used = counted + reserved;
  if (isSliding(period))
    return {
      rate_per_hour: used * PER_HOUR[period],
      forecast: null,
      runs_out_at: used >= limit ? new Date(nowMs).toISOString() : null,
    };
  const window = { startMs: windowStartMs(period, nowMs), endMs: nowMs + resetMs, used, limit };
  const found = tellingForecast(window, nowMs);
  if (found === null) return NONE;
  const { perHour, atEnd, exhaustedMs } = found;
  return {
    rate_per_hour: Math.round(perHour * 1_000) / 1_000,
    forecast: Math.min(Number.MAX_SAFE_INTEGER, Math.round(atEnd)),
    runs_out_at: exhaustedMs === null ? null : new Date(exhaustedMs).toISOString(),
  };
}
