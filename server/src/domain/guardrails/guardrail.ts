import type { Secret } from '../../kit/secret.ts';
import type { AuthMode } from '../upstream-auth.ts';
import type { ResponseRule } from './rules.ts';
import type { Template } from './template.ts';
import type { GuardrailStage } from './verdict.ts';

export type GuardrailTargetType = 'global' | 'lane' | 'provider' | 'endpoint';

export interface GuardrailBinding {
  readonly targetType: GuardrailTargetType;
  /** Null for `global`. */
  readonly targetId: string | null;
}

/** What may be sent to a guardrail, and received of it, where it has no bound of its own. */
export const GUARDRAIL_BYTES_DEFAULT = 1_048_576;

/** A guardrail as gateways hold it: enabled, with its preset filled in and the bindings that are enabled. */
export interface Guardrail {
  readonly id: string;
  readonly slug: string;
  /** Lower is asked first. */
  readonly priority: number;
  /** The whole address that is called, query included. */
  readonly baseUrl: string;
  readonly httpMethod: 'POST' | 'PUT';
  readonly authMode: AuthMode;
  readonly secretHeaderName: string | null;
  /** Null when there is none, and when the stored one opens under no configured master key. */
  readonly secret: Secret | null;
  /** For the whole call, from asking for a turn to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly preDispatch: boolean;
  readonly postResponse: boolean;
  readonly failureMode: 'fail_closed' | 'fail_open';
  readonly template: Template;
  readonly rules: readonly ResponseRule[];
  readonly maxRequestBytes: number;
  readonly maxResponseBytes: number;
  readonly bindings: readonly GuardrailBinding[];
}

/** What a request is, as far as bindings look at it. */
export interface GuardedPlace {
  readonly laneId: string | null;
  /** Null while no candidate is known: then only what is bound to everything or to the lane counts. */
  readonly candidate: { readonly providerId: string; readonly endpointId: string } | null;
}

/** The order in which guardrails are asked. */
export function inOrder(guardrails: readonly Guardrail[]): readonly Guardrail[] {
  return guardrails.toSorted((a, b) => a.priority - b.priority || (a.id < b.id ? -1 : 1));
}

/** Each counts once however many of its bindings match; the order is that of the list. */
export function effectiveGuardrails(
  guardrails: readonly Guardrail[],
  place: GuardedPlace,
): readonly Guardrail[] {
  if (guardrails.length === 0) return guardrails;
  return guardrails.filter(
    (guardrail) =>
      (guardrail.preDispatch || guardrail.postResponse) &&
      guardrail.bindings.some((binding) => reaches(binding, place)),
  );
}

/** The bindings that make a guardrail effective there, for whoever wants to know why it is. */
export function reachingBindings(guardrail: Guardrail, place: GuardedPlace): readonly GuardrailBinding[] {
  return guardrail.bindings.filter((binding) => reaches(binding, place));
}

export function hasStage(guardrail: Guardrail, stage: GuardrailStage): boolean {
  return stage === 'pre_dispatch' ? guardrail.preDispatch : guardrail.postResponse;
}

function reaches({ targetType, targetId }: GuardrailBinding, { laneId, candidate }: GuardedPlace): boolean {
  switch (targetType) {
    case 'global':
      return true;
    case 'lane':
      return laneId !== null && targetId === laneId;
    case 'provider':
      return candidate !== null && targetId === candidate.providerId;
    case 'endpoint':
      return candidate !== null && targetId === candidate.endpointId;
  }
}
