import type { AppliedLimit } from '../../domain/limits/limit.ts';
import type {
  AdmissionAnswer,
  AdmissionAsk,
  CandidateAsk,
  Opening,
  PolicyUsage,
  Recount,
  Refusal,
} from '../engine.ts';

// The arguments and replies of the scripts. Arguments are flat, in the order that each script names in its first lines.

/** Arguments of `admit.lua` after the time. `restored`: a dispatched operation to write again, as [word, candidate, age]. */
export function admitArguments(ask: AdmissionAsk, gatewayId: string, restored?: readonly string[]): string[] {
  const { release } = ask;
  const list = [
    ask.organizationId,
    ask.operationId,
    ask.queue,
    String(ask.waitersMax),
    ask.selection,
    String(Math.floor(ask.waitMsMax)),
    String(ask.leaseMs),
    gatewayId,
    ask.draft,
    ...(restored ?? [
      release === undefined ? '' : release.dispatched ? '1' : '0',
      String(release?.tokens ?? 0),
      String(release?.spendMicros ?? 0),
    ]),
    String(ask.candidates.length),
  ];
  for (const { endpointId, paced, charges } of ask.candidates) {
    list.push(endpointId, paced ? '1' : '0', String(charges.length));
    for (const { policy, cost } of charges) {
      list.push(policy.id, policy.metric, policy.period, String(policy.limit), String(cost));
    }
  }
  return list;
}

/** Arguments of `initialize.lua` after the organization. */
export function openingArguments(openings: readonly Opening[]): string[] {
  return openings.flatMap(({ policy: { id, metric, period }, startMs, amount }) => [
    ...[id, metric, period],
    ...[startMs, amount].map(String),
  ]);
}

/** Arguments of `recount.lua` after the organization. */
export function recountArguments(recounts: readonly Recount[]): string[] {
  return recounts.flatMap(({ policy: { id, metric, period }, startMs, amount, mark }) => [
    ...[id, metric, period],
    ...[startMs, amount, mark].map(String),
  ]);
}

export function readAnswer(reply: unknown, candidates: readonly CandidateAsk[]): AdmissionAnswer {
  const list = listOf(reply);
  const [kind, second, third, fourth] = list;
  if (kind === 'refused') return readRefusal(list);
  if (kind === 'rebuild') return { kind, policyIds: list.slice(1).map(String) };
  const candidate = Number(second);
  if (kind === 'wait') return { kind, candidate, waitMs: Number(third), policyId: idOrNull(fourth) };
  if (kind === 'line') return { kind, candidate, policyId: String(third) };
  const charges = candidates[candidate]?.charges ?? [];
  const windows = charges.map(({ policy }, index) => ({
    policyId: policy.id,
    used: Number(list[index * 2 + 2]),
    resetMs: Number(list[index * 2 + 3]),
  }));
  return { kind: 'admitted', candidate, windows };
}

function readRefusal([, reason, retryAfterMs, limitId, resetMs, used, emptyMs]: readonly unknown[]): Refusal {
  const policyId = idOrNull(limitId);
  return {
    kind: 'refused',
    reason: reasonOf(reason),
    retryAfterMs: Number(retryAfterMs),
    policyId,
    resetMs: Number(resetMs),
    window:
      policyId === null || used === undefined
        ? null
        : { policyId, used: Number(used), resetMs: Number(emptyMs) },
  };
}

export function readUsage(reply: unknown, limits: readonly AppliedLimit[]): PolicyUsage[] {
  const list = listOf(reply);
  return limits.map(({ id }, index) => {
    const [used, reserved, resetMs, mark] = list.slice(index * 4, index * 4 + 4);
    return {
      policyId: id,
      used: Number(used ?? 0),
      reserved: Number(reserved ?? 0),
      resetMs: Number(resetMs ?? 0),
      mark: mark === undefined || mark === '' ? null : Number(mark),
    };
  });
}

export function listOf(reply: unknown): readonly unknown[] {
  if (!Array.isArray(reply)) throw new TypeError(`a script replied ${String(reply)} instead of a list`);
  return reply;
}

function idOrNull(value: unknown): string | null {
  return value === undefined || value === '' ? null : String(value);
}

function reasonOf(word: unknown): Refusal['reason'] {
  if (word === 'wait_budget' || word === 'exceeds_limit' || word === 'queue_full') return word;
  throw new TypeError(`a script refused for ${String(word)}`);
}
