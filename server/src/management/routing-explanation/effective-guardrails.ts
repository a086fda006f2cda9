import type { EffectiveGuardrail } from '@relay/contract';
import { effectiveGuardrails } from '../../domain/guardrails/effective-guardrails.ts';
import { type GuardedPlace, type Guardrail, reachingBindings } from '../../domain/guardrails/guardrail.ts';
import type { Route, RouteMember } from '../../domain/routing/routing.ts';

/** The guardrails that would check the request, in order: those of the organization and the lane, then the candidate's. */
export interface GuardrailsOfRoute {
  readonly all: readonly EffectiveGuardrail[];
  idsAt(member: RouteMember): readonly string[];
}

/** `members`: the candidates that can serve the request. */
export function guardrailsOfRoute(
  guardrails: readonly Guardrail[],
  route: Route | undefined,
  members: readonly RouteMember[],
): GuardrailsOfRoute {
  if (route === undefined || guardrails.length === 0) return { all: [], idsAt: () => [] };
  const laneId = route.lane?.id ?? null;
  const anywhere: GuardedPlace = { laneId, candidate: null };
  const places = members.map((member) => placeOf(laneId, member));
  const reached = new Set(places.flatMap((place) => effectiveGuardrails(guardrails, place)));
  const effective = guardrails.filter((guardrail) => reached.has(guardrail));
  return {
    all: inTurn(effective, anywhere).map((guardrail) => ({
      guardrail_id: guardrail.id,
      stages: stagesOf(guardrail),
      bound_to: boundTo(guardrail, places),
    })),
    idsAt: (member) =>
      inTurn(effectiveGuardrails(guardrails, placeOf(laneId, member)), anywhere).map(({ id }) => id),
  };
}

function placeOf(laneId: string | null, { candidate: { provider, endpoint } }: RouteMember): GuardedPlace {
  return { laneId, candidate: { providerId: provider.id, endpointId: endpoint.id } };
}

/** Guardrails that apply to every candidate run before one is chosen. */
function inTurn(guardrails: readonly Guardrail[], anywhere: GuardedPlace): readonly Guardrail[] {
  const early = new Set(effectiveGuardrails(guardrails, anywhere));
  return [...early, ...guardrails.filter((guardrail) => !early.has(guardrail))];
}

function stagesOf({ preDispatch, postResponse }: Guardrail): EffectiveGuardrail['stages'] {
  return [
    ...(preDispatch ? (['pre_dispatch'] as const) : []),
    ...(postResponse ? (['post_response'] as const) : []),
  ];
}

function boundTo(guardrail: Guardrail, places: readonly GuardedPlace[]): EffectiveGuardrail['bound_to'] {
  const reaching = new Set(places.flatMap((place) => reachingBindings(guardrail, place)));
  return [...reaching].map(({ targetType, targetId }) => ({ target_type: targetType, target_id: targetId }));
}
