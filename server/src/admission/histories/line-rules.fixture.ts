import type { AppliedLimit } from '../../domain/limits/limit.ts';
import { isPaced, METRICS } from '../../domain/limits/metric.ts';
import { type CalendarPeriod, isSliding, type SlidingPeriod } from '../../domain/limits/period.ts';
import { windowStartMs } from '../calendar-window.ts';
import type { AdmissionAsk, CandidateAsk } from '../engine.ts';
import { dispatchesOf, type ProviderLog } from './provider-log.fixture.ts';

/** Buckets as the rules in the README have them, written down once more. */
const BUCKETS = { second: { ms: 50, span: 22 }, minute: { ms: 500, span: 122 } } as const;

/** A waiter, as an observer who may see the plan knows it. */
export interface Standing {
  readonly ask: AdmissionAsk;
  readonly rank: number;
  readonly seq: number;
  readonly deadlineMs: number;
  /** -1: without a promise. */
  readonly slotMs: number;
  readonly reservedOn: number;
  /** The one candidate that it waits for; -1: any. */
  readonly only: number;
}

/** When pacing released the last request, by limit. */
export type PaceMarks = Map<string, number>;

/** Counted again from the log and the plan: may it go there now, with every promise of the others kept? */
export function fits(
  log: ProviderLog,
  paceNext: (policyId: string) => number,
  waiting: readonly Standing[],
  one: Standing,
  candidate: CandidateAsk,
  nowMs: number,
): boolean {
  return candidate.charges.every(({ policy, cost }) => {
    const limit = log.limits.get(policy.id)?.limit ?? policy.limit;
    if (METRICS[policy.metric].held) return (log.inFlight.get(policy.id)?.size ?? 0) < limit;
    if (candidate.paced && paceNext(policy.id) > nowMs) return false;
    const place = placeIn(policy.period as SlidingPeriod | CalendarPeriod);
    const span = isSliding(policy.period) ? BUCKETS[policy.period].span : 1;
    const own = place(nowMs);
    const sums = new Map([[own, cost]]);
    const add = (at: number, amount: number) => {
      if (Math.abs(at - own) < span) sums.set(at, (sums.get(at) ?? 0) + amount);
    };
    for (const { sentMs, amount } of dispatchesOf(log, policy.id)) add(place(sentMs), amount);
    for (const other of waiting) {
      const reserved = other === one ? 0 : reservedBy(other, policy.id);
      if (reserved > 0) add(place(other.slotMs), reserved);
    }
    return [...sums.keys()].every((first) => {
      let sum = 0;
      for (const [at, amount] of sums) if (at >= first && at < first + span) sum += amount;
      return first > own || sum <= limit;
    });
  });
}

function placeIn(period: SlidingPeriod | CalendarPeriod): (atMs: number) => number {
  return (atMs) => (isSliding(period) ? Math.floor(atMs / BUCKETS[period].ms) : windowStartMs(period, atMs));
}

function reservedBy({ ask, slotMs, reservedOn }: Standing, policyId: string): number {
  if (slotMs < 0) return 0;
  return ask.candidates[reservedOn]?.charges.find(({ policy }) => policy.id === policyId)?.cost ?? 0;
}

/** The slowest pace at which everybody in the plan is served in time, at most the limit's own. */
export function paceNextMs(
  log: ProviderLog,
  marks: PaceMarks,
  waiting: readonly Standing[],
  policyId: string,
  nowMs: number,
): number {
  const policy = log.limits.get(policyId);
  if (policy === undefined || !isPaced(policy)) return 0;
  const { ms, span } = BUCKETS[policy.period as SlidingPeriod];
  const markMs = marks.get(policyId) ?? 0;
  let interval = (ms * span) / policy.limit;
  if (markMs + interval <= nowMs) return markMs + interval;
  // A promise whose moment is past, after the line stood still, goes unpaced and quickens nothing.
  const slots = waiting
    .filter((each) => reservedBy(each, policyId) > 0)
    .map(({ slotMs }) => Math.floor(slotMs / ms))
    .filter((slot) => slot >= Math.floor(nowMs / ms));
  slots.sort((a, b) => a - b);
  for (const [index, slot] of slots.entries()) {
    // The last of those in one bucket stands for all of them.
    if (slots[index + 1] !== slot)
      interval = Math.min(interval, Math.max(1, slot * ms - markMs) / (index + 1));
  }
  return markMs + interval;
}

/** A request went: the pace continues from where it was due, if that was within a bucket, or from now. */
export function notePace(
  marks: PaceMarks,
  { id, period }: AppliedLimit,
  nextMs: number,
  nowMs: number,
): void {
  const lateMs = isSliding(period) ? BUCKETS[period].ms : 0;
  marks.set(id, nextMs <= nowMs && nowMs - nextMs <= lateMs ? nextMs : nowMs);
}

/** Whether one could have gone in the other's place without taking anything else. */
export function isEqual(a: AdmissionAsk, b: AdmissionAsk, isPlain: boolean): boolean {
  if (!isPlain && (a.queue !== b.queue || a.priority !== b.priority)) return false;
  return chargesText(a, isPlain) === chargesText(b, isPlain);
}

function chargesText({ candidates }: AdmissionAsk, isPlain: boolean): string {
  return candidates
    .map(({ endpointId, charges }) =>
      [isPlain ? '' : endpointId, ...charges.map(({ policy, cost }) => `${policy.id}=${cost}`)].join(','),
    )
    .join(';');
}

/** Whether it is known when a candidate has room: it waits for no unit. */
export function isTimed({ candidates }: AdmissionAsk, index: number): boolean {
  return candidates[index]?.charges.some(({ policy }) => METRICS[policy.metric].held) !== true;
}

/** Its earliest moment may be kept free: it takes more of a limit that both need. */
export function takesMore(first: Standing, second: Standing): boolean {
  const costs = new Map<string, number>();
  for (const { charges } of first.ask.candidates)
    for (const { policy, cost } of charges) costs.set(policy.id, Math.max(cost, costs.get(policy.id) ?? 0));
  return second.ask.candidates.some(({ charges }) =>
    charges.some(({ policy, cost }) => (costs.get(policy.id) ?? 0) > cost),
  );
}
