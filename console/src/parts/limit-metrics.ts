import {
  type BoundPolicy,
  type LimitMetric,
  type LimitUsage,
  type NamedLimit,
  type NextLimit,
  REJECTS_MS,
  type TimeseriesQuery,
} from '@relay/contract';
import { formatCompact, formatCount, formatMoney, formatMoneyShort } from '../format/numbers.ts';
import { shortId } from '../format/short-id.ts';
import { text } from '../text/index.ts';
import { isCalendar } from './limit-window.ts';

interface MetricLook {
  /** Amounts are micro-USD, shown and typed as dollars. */
  readonly money: boolean;
  /** Counted while requests are in flight, so the limit has no period. */
  readonly held: boolean;
  /** The series of past usage; null where none is recorded. */
  readonly series: TimeseriesQuery['metric'] | null;
}

/** How the console shows each metric of a limit. */
export const metricLooks: Readonly<Record<LimitMetric, MetricLook>> = {
  requests: { money: false, held: false, series: 'requests' },
  tokens: { money: false, held: false, series: 'total_tokens' },
  spend: { money: true, held: false, series: 'cost_micros' },
  concurrency: { money: false, held: true, series: null },
};

/** An exact amount: "$50.00", "12,480". */
export function amountOf(metric: LimitMetric, value: number): string {
  return metricLooks[metric].money ? formatMoney(value) : formatCount(value);
}

/** The same for narrow places: "12.5K". */
export function shortAmountOf(metric: LimitMetric, value: number): string {
  return metricLooks[metric].money ? formatMoney(value) : formatCompact(value);
}

/** What was used, where two digits of a small amount are enough; a limit is always exact. */
export function roughAmountOf(metric: LimitMetric, value: number): string {
  return metricLooks[metric].money ? formatMoneyShort(value) : formatCompact(value);
}

/** The part of a limit that is used or reserved; more than 1 if usage exceeds it. What waiting requests reserve is partly of the next window, so it fills a sliding one at most. */
export function takenShareOf({
  used,
  reserved,
  limit,
  period,
}: Pick<LimitUsage, 'used' | 'reserved' | 'limit' | 'period'>): number {
  if (limit === 0) return 1;
  const share = (used + reserved) / limit;
  return isCalendar(period) ? share : Math.min(1, share);
}

/** From this taken share on, a limit is almost reached. */
export const CLOSE_SHARE = 0.8;

/** It rejects requests once it is used up; for all others, requests wait. A limit of 0 never has room. */
export function rejectsWhenFull({ period, limit }: Pick<LimitUsage, 'period' | 'limit'>): boolean {
  return isCalendar(period) || limit === 0;
}

/** Whether one of these limits rejected a request within the last minutes. A limit that is reached rejects nothing while no request is sent. */
export function haveRejected(limits: readonly Pick<NextLimit, 'last_rejected_at'>[], nowMs: number): boolean {
  return limits.some(({ last_rejected_at: at }) => at !== null && nowMs - Date.parse(at) <= REJECTS_MS);
}

const MILLION = 1_000_000;

/** As exact as `amountOf`, and shorter where no digit is lost: 50M. */
function roundAmountOf(metric: LimitMetric, value: number): string {
  const isRound = !metricLooks[metric].money && value >= MILLION && value % (MILLION / 10) === 0;
  return isRound && value < 1_000 * MILLION ? formatCompact(value) : amountOf(metric, value);
}

/** "$50.00 per day". */
export function ruleOf({ metric, period, limit }: Pick<LimitUsage, 'metric' | 'period' | 'limit'>): string {
  const amount = text.limits.amount[metric](roundAmountOf(metric, limit), limit === 1);
  return text.limits.rule(amount, text.limits.periods[period]);
}

/** Where a limit applies, by name: "on lane Assistant", "for key Support bot". `subject` is null for a shared limit and if unknown. */
export function placeOf(
  { kind, scope }: { readonly kind: LimitUsage['policy_kind']; readonly scope: LimitUsage['scope_type'] },
  scopeName: string,
  subject: string | null,
): string {
  const words = text.limits;
  const on = scope === 'global' ? words.on.global : words.on[scope](scopeName);
  if (kind === 'resource') return on;
  const owner = subject === null ? words.ofUnknown[kind] : words.of[kind](subject);
  return scope === 'global' ? owner : `${owner} ${on}`;
}

/** The limit of a request, logged or waiting: "6 requests per day for key Nightly batch on lane Assistant". A deleted limit has no number. */
export function boundLimitOf(bound: Omit<BoundPolicy, 'resets_at'>): string {
  const { policy_kind: kind, scope_type: scope, metric, period, limit_value: limit } = bound;
  const rule =
    limit === null
      ? text.limits.rule(text.limits.metricNames[metric], text.limits.periods[period])
      : ruleOf({ metric, period, limit });
  const nameOf = (name: string | null, id: string | null) => name ?? (id === null ? null : shortId(id));
  const scopeName = nameOf(bound.scope_name, bound.scope_id) ?? '';
  return `${rule} ${placeOf({ kind, scope }, scopeName, nameOf(bound.subject_name, bound.subject_id))}`;
}

/** "$40.00 per month on lane Assistant". */
export function namedLimitOf(usage: NamedLimit): string {
  const place = { kind: usage.policy_kind, scope: usage.scope_type };
  return `${ruleOf(usage)} ${placeOf(place, usage.scope_name ?? '', usage.subject_name)}`;
}
