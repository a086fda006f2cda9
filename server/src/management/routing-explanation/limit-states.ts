import type { LimitingPolicy } from '@relay/contract';
import type { PolicyUsage } from '../../admission/engine.ts';
import type { AppliedLimit, Charge } from '../../domain/limits/limit.ts';
import {
  chargesFor,
  describePolicy,
  estimatedAmounts,
  type LimitedCaller,
} from '../../domain/limits/limits.ts';
import { METRICS } from '../../domain/limits/metric.ts';
import { isSliding } from '../../domain/limits/period.ts';
import type { TokenEstimate } from '../../domain/money/usage.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { Candidate, Route } from '../../domain/routing/routing.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { ManagementDeps } from '../deps.ts';

/** One step of the limits engine keeps others waiting meanwhile. */
const LIMITS_PER_READ = 100;

/** What of the limits stands in the way of one candidate. */
export interface LimitState {
  /** `line`: every unit of a concurrency limit is taken; `exceeds`: no time makes room for this request. */
  readonly kind: 'wait' | 'line' | 'exceeds';
  /** An estimate for short windows: as if what is used there had come evenly. 0 in line and for what never fits. */
  readonly waitMs: number;
  readonly limitedBy: LimitingPolicy | null;
}

export interface LimitQuestion {
  readonly snapshot: OrganizationSnapshot;
  readonly caller: LimitedCaller;
  readonly route: Route;
  readonly candidates: readonly Candidate[];
  readonly estimate: TokenEstimate;
  /** The client set no bound on its output, so a real request would be estimated within what the limits admit. */
  readonly isOpenEnded: boolean;
}

/** By endpoint; a candidate with room in every limit has no entry. Reads and reserves nothing. */
export async function readLimitStates(
  deps: Pick<ManagementDeps, 'limitUsage' | 'clock'>,
  question: LimitQuestion,
): Promise<Map<string, LimitState>> {
  const charges = new Map(question.candidates.map((each) => [each.endpoint.id, chargesAt(question, each)]));
  const policies = new Map<string, AppliedLimit>();
  for (const list of charges.values()) for (const { policy } of list) policies.set(policy.id, policy);
  const usages = await readUsage(deps, question.snapshot.organizationId, [...policies.values()]);
  const nowMs = deps.clock.nowMs();
  const states = new Map<string, LimitState>();
  for (const [endpointId, list] of charges) {
    const found = strictest(list, usages);
    if (found === null) continue;
    const { kind, waitMs, policyId } = found;
    const resetsAtMs = kind === 'wait' ? nowMs + waitMs : null;
    states.set(endpointId, { kind, waitMs, limitedBy: limitingPolicy(question, policyId, resetsAtMs) });
  }
  return states;
}

/** What a real request would be charged there. What costs nothing is held back by nothing. */
function chargesAt(question: LimitQuestion, candidate: Candidate): Charge[] {
  const { snapshot, caller, route, estimate, isOpenEnded } = question;
  const charged = (tokens: TokenEstimate) =>
    chargesFor(snapshot, caller, route, candidate, estimatedAmounts(snapshot, candidate, tokens));
  const shortest = isOpenEnded ? Math.min(1, estimate.outputTokens) : estimate.outputTokens;
  const least = charged({ ...estimate, outputTokens: shortest });
  return charged(estimate).flatMap(({ policy, cost }, index) => {
    // The same limits in the same order, at the cost of the shortest answer.
    const floor = least[index]?.cost ?? cost;
    const bounded = Math.min(cost, Math.max(floor, policy.limit));
    return bounded > 0 ? [{ policy, cost: bounded }] : [];
  });
}

async function readUsage(
  { limitUsage }: Pick<ManagementDeps, 'limitUsage'>,
  organizationId: string,
  policies: readonly AppliedLimit[],
): Promise<Map<string, PolicyUsage>> {
  const usages = new Map<string, PolicyUsage>();
  try {
    for (let from = 0; from < policies.length; from += LIMITS_PER_READ) {
      const some = policies.slice(from, from + LIMITS_PER_READ);
      for (const usage of await limitUsage(organizationId, some)) usages.set(usage.policyId, usage);
    }
    return usages;
  } catch (error) {
    if (!(error instanceof RelayError && error.code === 'store_unavailable')) throw error;
    throw new RelayError('policy_unavailable', {
      message: 'The live state of limits cannot be read right now, so nobody can say. Retry shortly.',
      internal: error.detail.internal ?? error.message,
      cause: error,
    });
  }
}

type Found = Pick<LimitState, 'kind' | 'waitMs'> & { readonly policyId: string };

/** What never fits comes before any wait, and a wait with a time before a place in line, as in admission. */
function strictest(charges: readonly Charge[], usages: ReadonlyMap<string, PolicyUsage>): Found | null {
  let longest: Found | null = null;
  let blocked: Found | null = null;
  for (const { policy, cost } of charges) {
    const usage = usages.get(policy.id);
    const policyId = policy.id;
    if (cost > policy.limit) return { kind: 'exceeds', waitMs: 0, policyId };
    if (usage === undefined) continue;
    if (METRICS[policy.metric].held) {
      if (usage.used >= policy.limit) blocked ??= { kind: 'line', waitMs: 0, policyId };
      continue;
    }
    const waitMs = waitMsOf(policy, cost, usage);
    if (waitMs > (longest?.waitMs ?? 0)) longest = { kind: 'wait', waitMs, policyId };
  }
  return longest ?? blocked;
}

function waitMsOf({ period, limit }: AppliedLimit, cost: number, usage: PolicyUsage): number {
  const { used, reserved, resetMs } = usage;
  if (period === 'none') return 0;
  // What is reserved in a calendar window is reserved in a later one.
  if (!isSliding(period)) return used + cost > limit ? resetMs : 0;
  const taken = used + reserved;
  const over = taken + cost - limit;
  return over > 0 ? Math.ceil((resetMs * Math.min(over, taken)) / taken) : 0;
}

function limitingPolicy(
  { snapshot, caller }: LimitQuestion,
  policyId: string,
  resetsAtMs: number | null,
): LimitingPolicy | null {
  const policy = describePolicy(snapshot, caller, policyId);
  if (policy === null) return null;
  return {
    policy_id: policy.id,
    scope: policy.scope_id === null ? policy.scope_type : `${policy.scope_type}:${policy.scope_id}`,
    metric: policy.metric,
    period: policy.period,
    resets_at: resetsAtMs === null ? null : new Date(resetsAtMs).toISOString(),
  };
}
