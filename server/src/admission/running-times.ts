import { METRICS } from '../domain/limits/metric.ts';
import type { AdmissionAsk, DeskAnswer } from './engine.ts';

/** How much the newest duration counts: about the last ten decide. */
const NEWEST_SHARE = 0.2;
const RETRY_MS_MIN = 1_000;
/** Client libraries cap their backoff at this. */
const RETRY_MS_MAX = 60_000;
/** Limits that are remembered while nothing runs under them. */
const LIMITS_MAX = 10_000;

/** The requests of this process under one concurrency limit. */
interface RunningUnder {
  /** The rolling mean of how long requests held a unit; null until one has ended. */
  meanMs: number | null;
  /** Operation → since when, the oldest first. */
  readonly running: Map<string, number>;
  readonly inLine: Set<string>;
}

/**
 * How long requests hold the concurrency limits that they run under, to estimate when a unit becomes free. It knows the
 * requests of this process only, and the future of none.
 */
export interface RunningTimes {
  /** Takes the engine's answer to an ask. */
  noted(ask: AdmissionAsk, answer: DeskAnswer, nowMs: number): void;
  ended(operationId: string, nowMs: number): void;
  /** When a retry makes sense: 1 to 60 s, and 1 s if nothing is known. */
  freeInMs(organizationId: string, limitId: string, nowMs: number): number;
}

export function createRunningTimes(): RunningTimes {
  // Keyed by organization and limit, so that no organization learns anything about another.
  const limits = new Map<string, RunningUnder>();
  /** Operation → the limits that it is under. */
  const operations = new Map<string, readonly RunningUnder[]>();

  function limitOf(organizationId: string, limitId: string): RunningUnder {
    const key = `${organizationId} ${limitId}`;
    const known = limits.get(key);
    if (known !== undefined) return known;
    if (limits.size >= LIMITS_MAX) dropIdle(limits);
    const made: RunningUnder = { meanMs: null, running: new Map(), inLine: new Set() };
    limits.set(key, made);
    return made;
  }

  function ended(operationId: string, nowMs: number): void {
    const held = operations.get(operationId);
    if (held === undefined) return;
    operations.delete(operationId);
    for (const limit of held) {
      limit.inLine.delete(operationId);
      const sinceMs = limit.running.get(operationId);
      if (sinceMs === undefined) continue;
      limit.running.delete(operationId);
      const tookMs = nowMs - sinceMs;
      limit.meanMs = limit.meanMs === null ? tookMs : limit.meanMs + NEWEST_SHARE * (tookMs - limit.meanMs);
    }
  }

  return {
    noted(ask, answer, nowMs) {
      const { organizationId, operationId } = ask;
      ended(operationId, nowMs);
      if (answer.kind === 'refused') return;
      const held: RunningUnder[] = [];
      for (const { policy } of ask.candidates[answer.candidate]?.charges ?? [])
        if (METRICS[policy.metric].held) held.push(limitOf(organizationId, policy.id));
      if (held.length === 0) return;
      operations.set(operationId, held);
      for (const { running, inLine } of held) {
        if (answer.kind === 'admitted') running.set(operationId, nowMs);
        else inLine.add(operationId);
      }
    },
    ended,
    freeInMs(organizationId, limitId, nowMs) {
      const found = limits.get(`${organizationId} ${limitId}`);
      const estimateMs = found === undefined ? 0 : estimate(found, nowMs);
      return Math.round(Math.min(RETRY_MS_MAX, Math.max(RETRY_MS_MIN, estimateMs)));
    },
  };
}

/** When the unit is free that those in line leave over: each of them takes one that ends earlier. */
function estimate({ meanMs, running, inLine }: RunningUnder, nowMs: number): number {
  // All units are held by other processes, each at a random point of its time.
  if (running.size === 0) return (meanMs ?? 0) / 2;
  const rounds = Math.floor(inLine.size / running.size);
  const sinceMs = nth(running.values(), inLine.size % running.size) ?? nowMs;
  return restMs(nowMs - sinceMs, meanMs) + rounds * (meanMs ?? 0);
}

/** Without a mean, a request is expected to run for as long again. One that is overdue is less predictable the older it is. */
function restMs(ageMs: number, meanMs: number | null): number {
  return meanMs === null ? ageMs : Math.max(meanMs - ageMs, ageMs / 4);
}

function nth(values: Iterable<number>, position: number): number | undefined {
  let at = 0;
  for (const value of values) {
    if (at === position) return value;
    at += 1;
  }
  return undefined;
}

/** Forgets the limit that was added first of those under which nothing runs. */
function dropIdle(limits: Map<string, RunningUnder>): void {
  for (const [key, { running, inLine }] of limits) {
    if (running.size > 0 || inLine.size > 0) continue;
    limits.delete(key);
    return;
  }
}
