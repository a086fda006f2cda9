import type { AppliedLimit } from '../../domain/limits/limit.ts';
import type {
  AdmissionAnswer,
  AdmissionAsk,
  CandidateAsk,
  Opening,
  PastUse,
  PolicyUsage,
  Recount,
  Refusal,
  Release,
} from '../engine.ts';
import { windowKey } from '../window-key.ts';
import { columnsOf, nameOf } from './shapes.ts';

// The arguments and replies of the scripts. Arguments are flat, in the order that each script names in its first lines.

/** Arguments of `restore.lua` after the time. */
export function restoreArguments(ask: AdmissionAsk, index: number, agoMs: number): string[] {
  const candidate = ask.candidates[index] ?? { endpointId: '', paced: false, charges: [] };
  const { columns, values } = columnsOf(candidate);
  const policies = new Map(
    ask.candidates.flatMap(({ charges }) => charges.map(({ policy }) => [windowKey(policy), policy])),
  );
  const windows = [...policies.values()].filter(({ period }) => period !== 'none');
  return [
    ...[ask.organizationId, ask.operationId, String(ask.leaseMs), ask.draft],
    ...[
      String(index),
      String(Math.floor(agoMs)),
      String(ask.attempt ?? 0),
      nameOf(ask.organizationId, candidate, columns),
    ],
    ...[values.length, ...values, windows.length].map(String),
    ...windows.flatMap(({ id, metric, period }) => [id, metric, period]),
    ...candidate.charges.flatMap(({ policy: { id, metric, period } }, position) => [
      ...[id, metric, period],
      String(columns[position]),
    ]),
  ];
}

/** Arguments of `initialize.lua` after the organization. */
export function openingArguments(openings: readonly Opening[]): string[] {
  return openings.flatMap(({ policy: { id, metric, period }, startMs, amount }) => [
    ...[id, metric, period],
    ...[startMs, amount].map(String),
  ]);
}

/** Arguments of `restore-uses.lua` after the operation. */
export function useArguments(uses: readonly PastUse[]): string[] {
  return uses.flatMap(({ policy: { id, metric, period }, agoMs, amount }) => [
    ...[id, metric, period],
    ...[Math.floor(agoMs), amount].map(String),
  ]);
}

/** Arguments of `recount.lua` after the organization. */
export function recountArguments(recounts: readonly Recount[]): string[] {
  return recounts.flatMap(({ policy: { id, metric, period }, startMs, amount, mark }) => [
    ...[id, metric, period],
    ...[startMs, amount, mark].map(String),
  ]);
}

export function readAnswer(list: readonly unknown[], candidates: readonly CandidateAsk[]): AdmissionAnswer {
  const [kind, second, third, fourth, fifth] = list;
  if (kind === 'rebuild') return { kind, policyIds: list.slice(1).map(String) };
  if (kind !== 'wait') return readRelease(list, candidates);
  const firm = Number(fourth) === 1;
  return { kind, candidate: Number(second), withinMs: Number(third), firm, policyId: idOrNull(fifth) };
}

/** `admitted`, candidate, age, then what each of its limits has used and when it is empty; or a refusal. */
export function readRelease(list: readonly unknown[], candidates: readonly CandidateAsk[]): Release {
  const [kind, second, third] = list;
  if (kind === 'refused') return readRefusal(list);
  if (kind !== 'admitted') throw new TypeError(`a script returned ${String(kind)}`);
  const candidate = Number(second);
  const charges = candidates[candidate]?.charges ?? [];
  const windows = charges.map(({ policy }, index) => ({
    policyId: policy.id,
    used: Number(list[index * 2 + 3]),
    resetMs: Number(list[index * 2 + 4]),
  }));
  return { kind, candidate, windows, agoMs: Number(third) };
}

/** A waiter that goes or is refused. What it says is read with the ask that it answers. */
export interface OperationRelease {
  readonly operationId: string;
  readonly answer: readonly unknown[];
}

export function readReleases(reply: unknown): OperationRelease[] {
  return listOf(reply).map((each) => {
    const [operationId, ...answer] = listOf(each);
    return { operationId: String(operationId), answer };
  });
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
      policyId === null || used === undefined || used === null
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
  if (!Array.isArray(reply)) throw new TypeError(`a script returned ${String(reply)} instead of a list`);
  return reply;
}

function idOrNull(value: unknown): string | null {
  return value === undefined || value === '' ? null : String(value);
}

function reasonOf(word: unknown): Refusal['reason'] {
  if (word === 'wait_budget' || word === 'exceeds_limit' || word === 'queue_full') return word;
  throw new TypeError(`a script gave an unknown reason: ${String(word)}`);
}
