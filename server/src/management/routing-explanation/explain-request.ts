import type { LimitingPolicy, RoutingExplanation } from '@relay/contract';
import { resetTimeMs } from '../../admission/calendar-window.ts';
import { boundEstimate } from '../../domain/limits/bound-estimate.ts';
import { writtenCaps } from '../../domain/limits/hard-reservation.ts';
import { limitRules } from '../../domain/limits/limit-rules.ts';
import { describePolicy, type LimitedCaller } from '../../domain/limits/limits.ts';
import type { TokenEstimate } from '../../domain/money/usage.ts';
import type { OpenBreaker } from '../../domain/routing/health-record.ts';
import { openBreakerOf } from '../../domain/routing/health-view.ts';
import { type Candidate, routingTableOf } from '../../domain/routing/routing.ts';
import { fitCandidates } from '../../domain/routing/unfit.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { AskedRequest } from '../../protocols/asked-request.ts';
import { explainRoute } from './explain-route.ts';
import { type PlacementDeps, readPlacements } from './placements.ts';

/** The part of a request that routing and limits depend on. */
export interface ExplainedRequest {
  readonly asked: AskedRequest;
  readonly model: string;
  readonly streaming: boolean;
  /** Before it is bounded by the limits of the caller. */
  readonly estimate: TokenEstimate;
  /** Null when the client sets no cap on the output. */
  readonly outputCap: number | null;
  /** Of one choice under this name, without a cap. */
  readonly typicalOutputTokens: number;
}

/** What would happen to the request now, with the estimate and the limits that a real one would get. */
export async function explainRequest(
  deps: PlacementDeps,
  snapshot: OrganizationSnapshot,
  caller: LimitedCaller,
  { asked, model, streaming, estimate: guess, outputCap, typicalOutputTokens }: ExplainedRequest,
): Promise<RoutingExplanation> {
  const route = routingTableOf(snapshot).resolve(model);
  const through = { lane: route?.lane ?? null };
  const rules = limitRules(snapshot, caller, through);
  const candidates = fitCandidates(route?.members ?? [], asked, streaming, rules);
  const estimate = boundEstimate(snapshot, caller, through, candidates, outputCap, guess);
  const most = asked.mostAt.bind(asked);
  const caps = writtenCaps(typicalOutputTokens);
  const question = { snapshot, caller, route: through, candidates, estimate, most, caps };
  return explainRoute({
    asked,
    model,
    streaming,
    estimate,
    route,
    namesDisabledLane: [...snapshot.lanes.values()].some(
      ({ enabled, name, slug }) => !enabled && (name === model || slug === model),
    ),
    placements: await readPlacements(deps, question),
    breakers: await readBreakers(deps, snapshot.organizationId, candidates),
    limitingPolicy: (id, resetsAtMs) => limitingPolicy(snapshot, caller, id, resetsAtMs),
    refuseInLine: (id, retryMsMin) => deps.admission.refuseInLine(snapshot.organizationId, id, retryMsMin),
    limitRules: rules,
    pricingOf: (endpointId) => snapshot.pricing.get(endpointId),
    guardrails: snapshot.guardrails,
  });
}

/** The open breakers of these candidates, by endpoint. */
async function readBreakers(
  { health, clock }: PlacementDeps,
  organizationId: string,
  candidates: readonly Candidate[],
): Promise<ReadonlyMap<string, OpenBreaker>> {
  const breakers = new Map<string, OpenBreaker>();
  for (const [endpointId, known] of await health.read(organizationId, candidates)) {
    const open = openBreakerOf(known, clock.nowMs());
    if (open !== null) breakers.set(endpointId, open);
  }
  return breakers;
}

function limitingPolicy(
  snapshot: OrganizationSnapshot,
  caller: LimitedCaller,
  appliedId: string,
  resetsAtMs: number | null,
): LimitingPolicy | null {
  const policy = describePolicy(snapshot, caller, appliedId);
  if (policy === null) return null;
  const resetMs = resetsAtMs === null ? null : resetTimeMs(policy.period, resetsAtMs);
  return {
    policy_id: policy.id,
    scope: policy.scope_id === null ? policy.scope_type : `${policy.scope_type}:${policy.scope_id}`,
    metric: policy.metric,
    period: policy.period,
    resets_at: resetMs === null ? null : new Date(resetMs).toISOString(),
  };
}
