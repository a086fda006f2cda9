import type { RoutingExplanation } from '@relay/contract';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { PlacementDeps } from './placements.ts';

/** A deliberate bug in the explanation, to prove that the comparison with the engine finds it. */
export interface PlantedFault {
  readonly name: string;
  readonly deps?: (deps: PlacementDeps) => PlacementDeps;
  readonly snapshot?: (snapshot: OrganizationSnapshot) => OrganizationSnapshot;
  readonly explanation?: (explanation: RoutingExplanation) => RoutingExplanation;
}

export const PLANTED: readonly PlantedFault[] = [
  {
    name: 'a Retry-After that ignores the wait budget',
    explanation: (explanation) => ({
      ...explanation,
      retry_after_ms:
        explanation.retry_after_ms === null
          ? null
          : explanation.retry_after_ms + (explanation.wait_budget_ms ?? 0),
    }),
  },
  {
    name: 'a forgotten cooldown',
    deps: (deps) => ({ ...deps, admission: { ...deps.admission, cooldownUntilMs: () => null } }),
  },
  {
    name: 'a used window read as empty',
    deps: (deps) => ({
      ...deps,
      limitUsage: async (organizationId, limits) =>
        (await deps.limitUsage(organizationId, limits)).map((usage) => ({ ...usage, used: 0 })),
    }),
  },
  {
    name: 'every lane read as `preferred`',
    snapshot: (snapshot) => ({
      ...snapshot,
      lanes: new Map([...snapshot.lanes].map(([id, lane]) => [id, { ...lane, selection: 'preferred' }])),
    }),
  },
  {
    name: 'an exhausted budget called a short wait',
    explanation: (explanation) => ({
      ...explanation,
      error_code:
        explanation.error_code === 'budget_exhausted'
          ? 'rate_limit_wait_budget_exceeded'
          : explanation.error_code,
    }),
  },
];
