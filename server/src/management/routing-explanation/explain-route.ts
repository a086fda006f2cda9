import type { CandidateVerdict, RoutingExplanation } from '@relay/contract';
import { durationWords } from '@relay/contract/words';
import { costMicros } from '../../domain/money/money.ts';
import { skipWords } from '../../domain/routing/health-view.ts';
import type { Route, RouteMember } from '../../domain/routing/routing.ts';
import { unfitness } from '../../domain/routing/unfit.ts';
import { quirksOf } from '../../protocols/provider-presets.ts';
import {
  type Decision,
  decide,
  type ExplainInput,
  type PlacedCandidate,
  placedCandidate,
} from './decide-route.ts';
import { guardrailsOfRoute } from './effective-guardrails.ts';

const NO_CREDENTIAL = 'its provider has no usable credential';

const EXCEEDS = 'this request exceeds a limit by itself';
const IN_LINE = 'a concurrency limit has been reached';

/** What would happen to the request now. Sends nothing and reserves nothing. */
export function explainRoute(input: ExplainInput): RoutingExplanation {
  const { route } = input;
  const placed = new Map<RouteMember, PlacedCandidate>();
  for (const member of route?.members ?? []) {
    if (unfitness(member, input.asked, input.streaming, input.limitRules) !== null) continue;
    placed.set(member, placedCandidate(input, member));
  }
  const guardrails = guardrailsOfRoute(input.guardrails, route, [...placed.keys()]);
  const decision = decide(input, [...placed.values()], guardrails.all.length > 0);
  return {
    operation: input.asked.protocol.operation,
    model: input.model,
    resolved_as: resolvedAs(input.model, route),
    lane_id: route?.lane?.id ?? null,
    streaming: input.streaming,
    outcome: decision.outcome,
    selected_endpoint_id: decision.chosen?.member.candidate.endpoint.id ?? null,
    wait_ms: decision.wait_ms,
    wait_budget_ms: route?.maxWaitMs ?? null,
    retry_after_ms: decision.retry_after_ms,
    error_code: decision.error_code,
    reason: decision.reason,
    limited_by: decision.limited_by,
    estimated_input_tokens: input.estimate.inputTokens,
    estimated_output_tokens: input.estimate.outputTokens,
    guardrail_ids: guardrails.all.map(({ guardrail_id }) => guardrail_id),
    guardrails: [...guardrails.all],
    candidates: (route?.members ?? []).map((member) => ({
      ...verdictOf(input, member, placed.get(member), decision),
      guardrail_ids: [...guardrails.idsAt(member)],
    })),
  };
}

function resolvedAs(model: string, route: Route | undefined): RoutingExplanation['resolved_as'] {
  if (route === undefined) return 'unknown';
  if (route.lane !== null) return 'lane';
  const first = route.members[0]?.candidate;
  const named = first !== undefined && `${first.provider.slug}/${first.endpoint.upstreamModel}` === model;
  return named ? 'provider_model' : 'model';
}

function verdictOf(
  input: ExplainInput,
  member: RouteMember,
  placed: PlacedCandidate | undefined,
  decision: Decision,
): Omit<CandidateVerdict, 'guardrail_ids'> {
  const { endpoint, provider } = member.candidate;
  const pricing = input.pricingOf(endpoint.id);
  return {
    endpoint_id: endpoint.id,
    endpoint_name: endpoint.name,
    provider_id: provider.id,
    upstream_model: endpoint.upstreamModel,
    rank: member.manualRank,
    ...judge(input, member, placed, decision),
    ...translatedFor(input, member),
    wait_ms: placed?.waitMs ?? null,
    limited_by: placed?.limitedBy ?? null,
    estimated_cost_micros:
      pricing === undefined ? null : costMicros(pricing, { ...input.estimate, cachedInputTokens: 0 }),
    reserved: reservedAt(input, endpoint.id),
  };
}

function reservedAt(
  { placements, pricingOf }: ExplainInput,
  endpointId: string,
): CandidateVerdict['reserved'] {
  const reservation = placements.reserved.get(endpointId);
  if (reservation === undefined) return null;
  return {
    input_tokens: reservation.inputTokens,
    output_tokens: reservation.outputTokens,
    cost_micros: pricingOf(endpointId) === undefined ? null : reservation.spendMicros,
    output_cap: reservation.writtenCap,
  };
}

function translatedFor(
  { asked }: ExplainInput,
  { candidate: { endpoint, provider } }: RouteMember,
): Pick<CandidateVerdict, 'translated_to' | 'left_out'> {
  const passage = asked.passageTo(endpoint);
  if (passage === undefined) return { translated_to: null, left_out: [] };
  const { protocol, translation } = passage;
  return {
    translated_to: translation === null ? null : protocol.operation,
    left_out: [...asked.leftOut(translation, quirksOf(provider.presetSlug))],
  };
}

function judge(
  input: ExplainInput,
  member: RouteMember,
  placed: PlacedCandidate | undefined,
  decision: Decision,
): Pick<CandidateVerdict, 'verdict' | 'reason'> {
  const unfit = unfitness(member, input.asked, input.streaming, input.limitRules);
  if (unfit !== null) return { verdict: unfit.verdict, reason: unfit.reason };
  if (placed?.isPrepared !== true) return { verdict: 'unhealthy', reason: NO_CREDENTIAL };
  if (placed === decision.chosen) {
    const down =
      placed.breaker === null
        ? ''
        : `; it is down (${placed.breaker.reason}), and all other endpoints are down too`;
    const reason = `${whenFree(placed)}, and comes first ${orderOf(input.route)}${down}`;
    return { verdict: 'selected', reason };
  }
  if (placed.breaker !== null && decision.skipped.includes(placed))
    return { verdict: 'unhealthy', reason: skipWords(placed.breaker, input.placements.nowMs) };
  const { placement, waitMs } = placed;
  if (placement.exceeds !== null) return { verdict: 'limited', reason: EXCEEDS };
  const maxWaitMs = input.route?.maxWaitMs ?? 0;
  if (waitMs === null) return { verdict: maxWaitMs > 0 ? 'would_wait' : 'limited', reason: IN_LINE };
  const why =
    placement.boundBy === null
      ? `its provider asked for a pause, which ends in ${durationWords(waitMs, Math.ceil)}`
      : `${limitNoun(placed)} has its next slot in about ${durationWords(waitMs, Math.ceil)}`;
  if (waitMs > maxWaitMs)
    return { verdict: 'limited', reason: `${why}, and this route waits at most ${durationWords(maxWaitMs)}` };
  if (waitMs > 0) return { verdict: 'would_wait', reason: why };
  const reason =
    input.route?.allowFallback === true
      ? 'available; used if an earlier attempt fails'
      : 'available, but the lane does not fall back';
  return { verdict: 'available', reason };
}

function limitNoun({ limitedBy }: PlacedCandidate): string {
  if (limitedBy === null) return 'a limit';
  const { metric, period } = limitedBy;
  return `a limit on ${metric}${period === 'none' ? '' : ` per ${period}`}`;
}

function whenFree({ placement, waitMs }: PlacedCandidate): string {
  if (waitMs === null) return 'it is at a concurrency limit';
  if (waitMs === 0) return 'it is free now';
  return `it is free in ${placement.boundBy === null ? '' : 'about '}${durationWords(waitMs, Math.ceil)}, within the wait budget`;
}

function orderOf(route: Route | undefined): string {
  return route?.selection === 'soonest' ? 'by availability, then rank' : 'by rank';
}
