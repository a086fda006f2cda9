import type { CandidateVerdict, RoutingExplanation } from '@relay/contract';
import type { TokenEstimate } from '../../domain/estimate.ts';
import { costMicros } from '../../domain/money.ts';
import type { Operation } from '../../domain/operation.ts';
import { type Route, type RouteMember, type Unfit, unfitness } from '../../domain/routing.ts';
import type { Pricing } from '../../domain/snapshot.ts';

export interface ExplainInput {
  readonly operation: Operation;
  readonly model: string;
  readonly streaming: boolean;
  readonly estimate: TokenEstimate;
  /** Undefined when nothing has that name. */
  readonly route: Route | undefined;
  /** How long an endpoint is still to be left alone; 0 when it is free. */
  readonly waitMsOf: (endpointId: string) => number;
  readonly pricingOf: (endpointId: string) => Pricing | undefined;
}

const UNFIT: Record<Unfit, Pick<CandidateVerdict, 'verdict' | 'reason'>> = {
  membership_disabled: { verdict: 'disabled', reason: 'its membership in the lane is disabled' },
  endpoint_disabled: { verdict: 'disabled', reason: 'the endpoint is disabled' },
  provider_disabled: { verdict: 'disabled', reason: 'its provider is disabled' },
  operation_unsupported: { verdict: 'incompatible', reason: 'it does not serve this operation' },
  streaming_unsupported: { verdict: 'incompatible', reason: 'it does not support streaming' },
};

const NO_CREDENTIAL =
  'its provider needs a credential and no enabled one can be opened; an attempt would fail before anything is sent';

/** A member that may take the request as far as configuration goes. */
interface Contender {
  readonly member: RouteMember;
  readonly waitMs: number;
  readonly hasCredential: boolean;
}

type Decision = Pick<RoutingExplanation, 'outcome' | 'wait_ms' | 'retry_after_ms' | 'error_code'> & {
  readonly chosen: Contender | null;
};

/** What would happen to a request now, from what is known in memory. Sends nothing and reserves nothing. */
export function explainRoute(input: ExplainInput): RoutingExplanation {
  const { route } = input;
  const contenders = new Map<RouteMember, Contender>();
  for (const member of route?.members ?? []) {
    if (unfitness(member, input.operation, input.streaming) !== null) continue;
    const waitMs = Math.ceil(input.waitMsOf(member.candidate.endpoint.id));
    contenders.set(member, { member, waitMs, hasCredential: hasUsableCredential(member) });
  }
  const decision = decide(route, [...contenders.values()]);
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
    limited_by: null,
    estimated_input_tokens: input.estimate.inputTokens,
    estimated_output_tokens: input.estimate.outputTokens,
    guardrail_ids: [],
    candidates: (route?.members ?? []).map((member) =>
      verdictOf(input, member, contenders.get(member), decision),
    ),
  };
}

function resolvedAs(model: string, route: Route | undefined): RoutingExplanation['resolved_as'] {
  if (route === undefined) return 'unknown';
  if (route.lane !== null) return 'lane';
  const first = route.members[0]?.candidate;
  const named = first !== undefined && `${first.provider.slug}/${first.endpoint.upstreamModel}` === model;
  return named ? 'provider_model' : 'model';
}

function hasUsableCredential({ candidate }: RouteMember): boolean {
  return candidate.provider.authMode === 'none' || (candidate.credential?.secret ?? null) !== null;
}

/** The choice admission makes, and what becomes of it when the chosen one cannot be prepared. */
function decide(route: Route | undefined, contenders: readonly Contender[]): Decision {
  if (route === undefined) return refusal('model_not_found');
  if (contenders.length === 0) return refusal('no_route');
  // An attempt without a credential fails at once and falls back; without fallback it is the end.
  const prepared = contenders.filter((contender) => contender.hasCredential);
  const choices = route.allowFallback ? prepared : contenders;
  if (choices.length === 0) return refusal('upstream_not_prepared');

  const soonest = choices.reduce((best, next) => (next.waitMs < best.waitMs ? next : best));
  const fitting = route.selection === 'soonest' ? [soonest] : choices;
  const chosen = fitting.find((contender) => contender.waitMs <= route.maxWaitMs);
  if (chosen === undefined) return refusal('rate_limit_wait_budget_exceeded', soonest.waitMs);
  if (!chosen.hasCredential) return refusal('upstream_not_prepared');
  return {
    chosen,
    outcome: chosen.waitMs === 0 ? 'dispatch' : 'wait',
    wait_ms: chosen.waitMs,
    retry_after_ms: null,
    error_code: null,
  };
}

function refusal(errorCode: string, retryAfterMs: number | null = null): Decision {
  return {
    chosen: null,
    outcome: 'refuse',
    wait_ms: null,
    retry_after_ms: retryAfterMs,
    error_code: errorCode,
  };
}

function verdictOf(
  input: ExplainInput,
  member: RouteMember,
  contender: Contender | undefined,
  decision: Decision,
): CandidateVerdict {
  const { endpoint, provider } = member.candidate;
  const pricing = input.pricingOf(endpoint.id);
  return {
    endpoint_id: endpoint.id,
    endpoint_name: endpoint.name,
    provider_id: provider.id,
    upstream_model: endpoint.upstreamModel,
    rank: member.manualRank,
    ...judge(input, member, contender, decision),
    wait_ms: contender?.waitMs ?? null,
    limited_by: null,
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
  if (unfit !== null) return UNFIT[unfit];
  if (contender === undefined || !contender.hasCredential)
    return { verdict: 'unhealthy', reason: NO_CREDENTIAL };
  const { waitMs } = contender;
  if (contender === decision.chosen) {
    const reason = waitMs === 0 ? 'it is free now' : `it is free in ${waitMs} ms, within the wait budget`;
    return { verdict: 'selected', reason: `${reason}, and comes first ${orderOf(input.route)}` };
  }
  const cooling = `its provider asked to be left alone for ${waitMs} ms more`;
  if (waitMs > (input.route?.maxWaitMs ?? 0)) {
    return { verdict: 'limited', reason: `${cooling}, which is past the wait budget` };
  }
  if (waitMs > 0) return { verdict: 'would_wait', reason: cooling };
  const reason =
    input.route?.allowFallback === true
      ? 'it is free and comes next should an earlier attempt fail'
      : 'it is free, but the lane does not fall back';
  return { verdict: 'available', reason };
}

function orderOf(route: Route | undefined): string {
  return route?.selection === 'soonest' ? 'by time, then rank' : 'by rank';
}
