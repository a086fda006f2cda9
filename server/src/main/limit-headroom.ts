import type { AdmissionAnswer, AdmissionAsk } from '../admission/engine.ts';
import type { AppliedLimit } from '../domain/limits/limit.ts';
import type { Clock } from '../kit/clock.ts';
import type { Labels } from '../kit/metrics.ts';

/** Limits that a process remembers the use of; the one that it met first is forgotten beyond it. */
const LIMITS_MAX = 5_000;
const SHOWN_MAX = 50;
/** What runs now changes without a window that ends, so it is believed for as long. */
const CONCURRENCY_MS = 15_000;

type Kind = 'resource' | 'team' | 'user' | 'api_key';

interface Seen {
  readonly policy: AppliedLimit;
  readonly kind: Kind;
  used: number;
  limit: number;
  validUntilMs: number;
}

/** How much room limits have, from what admission answered last about each. */
export interface LimitHeadroom {
  note(ask: AdmissionAsk, answer: AdmissionAnswer): void;
  /** The share that is left of the tightest limits that several keys use. */
  tightest(): [Labels, number][];
  /** The least that is left, by kind of limit: it names no key and no member. */
  lowest(): [Labels, number][];
}

export function createLimitHeadroom(clock: Clock): LimitHeadroom {
  const seen = new Map<string, Seen>();

  function see(policy: AppliedLimit, used: number, resetMs: number): void {
    const validUntilMs =
      clock.monotonicMs() + (policy.period === 'none' ? CONCURRENCY_MS : Math.max(resetMs, 1));
    const known = seen.get(policy.id);
    if (known !== undefined) {
      known.used = used;
      known.limit = policy.limit;
      known.validUntilMs = validUntilMs;
      return;
    }
    if (seen.size >= LIMITS_MAX) {
      const { value: first } = seen.keys().next();
      if (first !== undefined) seen.delete(first);
    }
    seen.set(policy.id, { policy, kind: kindOf(policy), used, limit: policy.limit, validUntilMs });
  }

  function* current(): Generator<Seen> {
    const nowMs = clock.monotonicMs();
    for (const each of seen.values()) if (each.validUntilMs > nowMs) yield each;
  }

  return {
    note(ask, answer) {
      if (answer.kind === 'rebuild') return;
      if (answer.kind === 'admitted') {
        const charges = ask.candidates[answer.candidate]?.charges ?? [];
        for (const [index, { used, resetMs }] of answer.windows.entries()) {
          const policy = charges[index]?.policy;
          if (policy !== undefined) see(policy, used, resetMs);
        }
        return;
      }
      const { policyId } = answer;
      const policy = policyId === null ? null : limitIn(ask, policyId);
      if (policy !== null)
        see(policy, policy.limit, answer.kind === 'refused' ? answer.resetMs : answer.withinMs);
    },
    tightest() {
      const shared = new Map<string, [Labels, number]>();
      for (const { policy, kind, used, limit } of current()) {
        if (kind === 'user' || kind === 'api_key') continue;
        const id = policyIdOf(policy);
        const left = leftOf(used, limit);
        // A limit that was moved has two counters for a while.
        if (left < (shared.get(id)?.[1] ?? Number.POSITIVE_INFINITY))
          shared.set(id, [{ policy: id, metric: policy.metric, period: policy.period }, left]);
      }
      return [...shared.values()].sort(([, one], [, other]) => one - other).slice(0, SHOWN_MAX);
    },
    lowest() {
      const lowest = new Map<Kind, number>();
      for (const { kind, used, limit } of current())
        lowest.set(kind, Math.min(lowest.get(kind) ?? 1, leftOf(used, limit)));
      return [...lowest].map(([kind, left]) => [{ kind }, left]);
    },
  };
}

function leftOf(used: number, limit: number): number {
  return limit <= 0 ? 0 : Math.min(1, Math.max(0, 1 - used / limit));
}

function kindOf({ counts }: AppliedLimit): Kind {
  if (counts.keyId !== null) return 'api_key';
  if (counts.userId !== null) return 'user';
  return counts.teamId === undefined ? 'resource' : 'team';
}

/** Without the scope and the count of restarts that a counter's name has. */
function policyIdOf({ id }: AppliedLimit): string {
  return id.split(/[@#]/, 1)[0] ?? id;
}

function limitIn({ candidates }: AdmissionAsk, policyId: string): AppliedLimit | null {
  for (const { charges } of candidates)
    for (const { policy } of charges) if (policy.id === policyId) return policy;
  return null;
}
