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

/** The default maximum of the bytes sent to a guardrail and received from it. */
export const GUARDRAIL_BYTES_DEFAULT = 1_048_576;

/** A guardrail as gateways hold it: enabled, with its preset applied and its enabled bindings. */
export interface Guardrail {
  readonly id: string;
  readonly slug: string;
  /** Lower is asked first. */
  readonly priority: number;
  /** The complete URL that is called, including the query. */
  readonly baseUrl: string;
  readonly httpMethod: 'POST' | 'PUT';
  readonly authMode: AuthMode;
  readonly secretHeaderName: string | null;
  /** Null when there is none, or when no configured master key opens the stored one. */
  readonly secret: Secret | null;
  /** For the complete call, from waiting for a turn to the last byte of the answer. */
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

/** The properties of a request that bindings refer to. */
export interface GuardedPlace {
  readonly laneId: string | null;
  /** Null while no candidate is chosen: then only bindings to everything or to the lane apply. */
  readonly candidate: { readonly providerId: string; readonly endpointId: string } | null;
}

/** The order in which guardrails are asked. */
export function inOrder(guardrails: readonly Guardrail[]): readonly Guardrail[] {
  return guardrails.toSorted((a, b) => a.priority - b.priority || (a.id < b.id ? -1 : 1));
}

/** The bindings that make a guardrail effective there, for explanations. */
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
