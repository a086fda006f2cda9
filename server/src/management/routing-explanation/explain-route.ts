import type { CandidateVerdict, RoutingExplanation } from '@relay/contract';
import { costMicros } from '../../domain/money/money.ts';
import type { Route, RouteMember } from '../../domain/routing/routing.ts';
import { unfitness, unfitVerdicts } from '../../domain/routing/unfit.ts';
import {
  type Contender,
  contenderOf,
  type Decision,
  decide,
  type ExplainInput,
  knownWaitMs,
} from './decide-route.ts';
import { guardrailsOfRoute } from './effective-guardrails.ts';

const NO_CREDENTIAL =
  'its provider needs a credential and no enabled one can be opened; an attempt would fail before anything is sent';

const EXCEEDS = 'this request alone is more than a limit admits';
const IN_LINE = 'every unit of a concurrency limit is taken';

/** What would happen to a request now, from what is known of configuration, cooldowns and limits. Sends nothing and reserves nothing. */
export function explainRoute(input: ExplainInput): RoutingExplanation {
  const { route } = input;
  const contenders = new Map<RouteMember, Contender>();
  for (const member of route?.members ?? []) {
    if (unfitness(member, input.operation, input.streaming) !== null) continue;
    contenders.set(member, contenderOf(input, member));
  }
  const guardrails = guardrailsOfRoute(input.guardrails, route, [...contenders.keys()]);
  const decision = decide(input, [...contenders.values()], guardrails.all.length > 0);
  return {
    operation: input.operation,
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
      ...verdictOf(input, member, contenders.get(member), decision),
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
  contender: Contender | undefined,
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
    ...judge(input, member, contender, decision),
    wait_ms: contender === undefined ? null : knownWaitMs(contender),
    limited_by: contender?.limit?.limitedBy ?? null,
    estimated_cost_micros:
      pricing === undefined ? null : costMicros(pricing, { ...input.estimate, cachedInputTokens: 0 }),
  };
}

function judge(
  input: ExplainInput,
  member: RouteMember,
  contender: Contender | undefined,
  decision: Decision,
): Pick<CandidateVerdict, 'verdict' | 'reason'> {
  const unfit = unfitness(member, input.operation, input.streaming);
  if (unfit !== null) return unfitVerdicts[unfit];
  if (contender === undefined || !contender.hasCredential)
    return { verdict: 'unhealthy', reason: NO_CREDENTIAL };
  const { waitMs, limit } = contender;
  if (contender === decision.chosen) {
    const reason = `${whenFree(contender)}, and comes first ${orderOf(input.route)}`;
    return { verdict: 'selected', reason };
  }
  if (limit?.kind === 'exceeds') return { verdict: 'limited', reason: EXCEEDS };
  const maxWaitMs = input.route?.maxWaitMs ?? 0;
  if (limit?.kind === 'line') return { verdict: maxWaitMs > 0 ? 'would_wait' : 'limited', reason: IN_LINE };
  const why =
    limit === undefined
      ? `its provider asked to be left alone for ${waitMs} ms more`
      : `a limit has room for it in about ${waitMs} ms`;
  if (waitMs > maxWaitMs) return { verdict: 'limited', reason: `${why}, which is past the wait budget` };
  if (waitMs > 0) return { verdict: 'would_wait', reason: why };
  const reason =
    input.route?.allowFallback === true
      ? 'it is free and comes next should an earlier attempt fail'
      : 'it is free, but the lane does not fall back';
  return { verdict: 'available', reason };
}

function whenFree({ waitMs, limit }: Contender): string {
  if (limit?.kind === 'line') return IN_LINE;
  if (waitMs === 0) return 'it is free now';
  return `it is free in ${limit === undefined ? '' : 'about '}${waitMs} ms, within the wait budget`;
}

function orderOf(route: Route | undefined): string {
  return route?.selection === 'soonest' ? 'by time, then rank' : 'by rank';
}
