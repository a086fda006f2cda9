import type { LimitingPolicy, RoutingExplanation } from '@relay/contract';
import { durationWords } from '@relay/contract/words';
import { choose, type Placement } from '../../admission/choose-candidate.ts';
import type { Refusal } from '../../admission/engine.ts';
import { outcomeOf } from '../../admission/refusal.ts';
import type { Guardrail } from '../../domain/guardrails/guardrail.ts';
import type { TokenEstimate } from '../../domain/money/usage.ts';
import type { OpenBreaker } from '../../domain/routing/health-record.ts';
import { offerOf } from '../../domain/routing/offered-candidates.ts';
import { isPrepared, type Route, type RouteMember } from '../../domain/routing/routing.ts';
import { type LimitRules, type Unfit, unfitness } from '../../domain/routing/unfit.ts';
import type { Pricing } from '../../domain/snapshot.ts';
import type { AskedRequest } from '../../protocols/asked-request.ts';
import type { Placements } from './placements.ts';

export interface ExplainInput {
  readonly asked: AskedRequest;
  readonly model: string;
  readonly streaming: boolean;
  readonly estimate: TokenEstimate;
  /** Undefined when no lane or model has that name. */
  readonly route: Route | undefined;
  /** A lane has that name and is disabled. */
  readonly namesDisabledLane: boolean;
  readonly placements: Placements;
  /** Of the endpoints that are down, by endpoint. */
  readonly breakers: ReadonlyMap<string, OpenBreaker>;
  /** Describes a limit by its engine id; null when it no longer applies to the caller. */
  readonly limitingPolicy: (appliedId: string, resetsAtMs: number | null) => LimitingPolicy | null;
  readonly refuseInLine: (appliedId: string, retryMsMin: number) => Refusal;
  readonly limitRules: LimitRules;
  readonly pricingOf: (endpointId: string) => Pricing | undefined;
  /** The guardrails in force, in order. */
  readonly guardrails: readonly Guardrail[];
}

const NO_CREDENTIAL_ANYWHERE =
  'No enabled credential is usable, so the attempt would fail before Relay sends anything.';
const NO_PRICE = 'Would be rejected with 400: a spend limit applies, and no candidate has a price.';
const NO_BOUND =
  'Would be rejected with 400: a hard limit applies, and the usage of the request has no upper bound.';
const UNGUARDABLE_STREAM =
  'Would be rejected with 400: a guardrail applies to a candidate and can’t check a stream.';
const UNGUARDABLE_EMBEDDINGS =
  'Would be rejected with 400: a guardrail applies to a candidate and can’t check embeddings.';

/** A member of the route that can serve the request, as far as configuration goes. */
export interface PlacedCandidate {
  readonly member: RouteMember;
  readonly placement: Placement;
  /**
   * Time until the cooldown ends and every limit allows the request; null when unknown, because it waits for
   * concurrency, or when it exceeds a limit by itself.
   */
  readonly waitMs: number | null;
  /** The limit that delays or rejects the request here; null for none or a cooldown. */
  readonly limitedBy: LimitingPolicy | null;
  /** Whether its provider has a credential to send, if it needs one. */
  readonly isPrepared: boolean;
  /** Set when the endpoint is down. */
  readonly breaker: OpenBreaker | null;
}

export type Decision = Pick<
  RoutingExplanation,
  'outcome' | 'wait_ms' | 'retry_after_ms' | 'error_code' | 'reason' | 'limited_by'
> & {
  readonly chosen: PlacedCandidate | null;
  /** Down, and therefore left out, because another candidate is not. */
  readonly skipped: readonly PlacedCandidate[];
};

export function placedCandidate(input: ExplainInput, member: RouteMember): PlacedCandidate {
  const { nowMs, byEndpoint } = input.placements;
  const { endpoint } = member.candidate;
  const placement = byEndpoint.get(endpoint.id) ?? {
    slotMs: nowMs,
    boundBy: null,
    exceeds: null,
    blockedBy: null,
  };
  const limitId = placement.exceeds ?? placement.blockedBy ?? placement.boundBy;
  const hasTime = placement.exceeds === null && placement.blockedBy === null;
  return {
    member,
    placement,
    waitMs: hasTime ? placement.slotMs - nowMs : null,
    limitedBy: limitId === null ? null : input.limitingPolicy(limitId, hasTime ? placement.slotMs : null),
    isPrepared: isPrepared(member.candidate),
    breaker: input.breakers.get(endpoint.id) ?? null,
  };
}

/** The choice that admission would make, and the error if the chosen candidate cannot be called. */
export function decide(
  input: ExplainInput,
  candidates: readonly PlacedCandidate[],
  isGuarded: boolean,
): Decision {
  const { route } = input;
  if (route === undefined) return refusal('model_not_found', unknownModel(input));
  if (candidates.length === 0) return refusalOf(input, route);
  if (isGuarded && input.asked.protocol.text === null)
    return refusal('guardrail_route_kind_unsupported', UNGUARDABLE_EMBEDDINGS);
  if (isGuarded && input.streaming) return refusal('guardrail_streaming_unsupported', UNGUARDABLE_STREAM);
  const { offered, skipped } = offerOf(candidates, ({ breaker }) => breaker !== null);
  // An attempt without a credential fails and falls back, at last to those that are down; without fallback the request fails.
  const prepared = [offered, skipped].find((some) => some.some((each) => each.isPrepared)) ?? [];
  const choices = route.allowFallback ? prepared.filter((each) => each.isPrepared) : offered;
  if (choices.length === 0) return refusal('upstream_not_prepared', NO_CREDENTIAL_ANYWHERE);

  const placements = choices.map(({ placement }) => placement);
  const ask = { selection: route.selection, waitMsMax: route.maxWaitMs };
  const choice = choose(ask, placements, input.placements.nowMs);
  if (choice.kind === 'refused')
    return { ...refuseForCapacity(input, route, estimated(input, placements, choice)), skipped };
  const chosen = choices[choice.candidate];
  if (chosen?.isPrepared !== true) return refusal('upstream_not_prepared', NO_CREDENTIAL_ANYWHERE);
  return {
    chosen,
    skipped,
    outcome: choice.kind === 'now' ? 'dispatch' : 'wait',
    wait_ms: chosen.waitMs,
    retry_after_ms: null,
    error_code: null,
    reason: null,
    limited_by: chosen.limitedBy,
  };
}

function refusalOf({ asked, streaming, limitRules }: ExplainInput, { members }: Route): Decision {
  const isWhy = (why: Unfit['why']) =>
    members.some((member) => unfitness(member, asked, streaming, limitRules)?.why === why);
  if (isWhy('unpriced')) return refusal('unpriced', NO_PRICE);
  if (isWhy('unbounded')) return refusal('unbounded_request', NO_BOUND);
  return refusal('no_route', 'No candidate can serve the request; each shows its reason.');
}

/** When a unit of a concurrency limit is free follows from what runs, as in a real 429. */
function estimated(input: ExplainInput, placements: readonly Placement[], refused: Refusal): Refusal {
  const { policyId } = refused;
  const isConcurrency = placements.some(({ blockedBy }) => blockedBy !== null && blockedBy === policyId);
  return isConcurrency && policyId !== null ? input.refuseInLine(policyId, refused.retryAfterMs) : refused;
}

function refuseForCapacity(input: ExplainInput, route: Route, refused: Refusal): Decision {
  const neverFits = refused.reason === 'exceeds_limit';
  const reason = neverFits
    ? 'This request exceeds a limit of every candidate by itself.'
    : `No candidate has capacity within the wait budget of ${durationWords(route.maxWaitMs)}.`;
  const resetsAtMs = neverFits ? null : input.placements.nowMs + refused.resetMs;
  const limitedBy = refused.policyId === null ? null : input.limitingPolicy(refused.policyId, resetsAtMs);
  const { code, retryAfterMs } = outcomeOf(refused, limitedBy);
  return { ...refusal(code, reason), retry_after_ms: retryAfterMs, limited_by: limitedBy };
}

function refusal(errorCode: string, reason: string): Decision {
  return {
    chosen: null,
    skipped: [],
    outcome: 'refuse',
    wait_ms: null,
    retry_after_ms: null,
    error_code: errorCode,
    reason,
    limited_by: null,
  };
}

function unknownModel({ model, namesDisabledLane }: ExplainInput): string {
  const shown = model.length > 200 ? `${model.slice(0, 200)}…` : model;
  const hint = namesDisabledLane ? ' A lane has that name, but it is disabled.' : '';
  return `No lane or model is named "${shown}". Relay tried, in this order: lane slug, lane name, provider/model, upstream model.${hint}`;
}
