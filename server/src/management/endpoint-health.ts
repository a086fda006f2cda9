import type { Endpoint } from '@relay/contract';
import type { ManagementDeps } from './resources/deps.ts';

type HealthDeps = Pick<ManagementDeps, 'admission' | 'clock'>;

/**
 * What admission knows of an endpoint now. It keeps until when an endpoint is left alone, not why, so a
 * provider that throttles and one that is overloaded look the same here.
 */
export function endpointHealth(
  deps: HealthDeps,
  endpointId: string,
): Pick<Endpoint, 'health' | 'cooldown_until'> {
  const untilMs = deps.admission.cooldownUntilMs(endpointId);
  if (untilMs === null || untilMs <= deps.clock.nowMs()) return { health: 'healthy', cooldown_until: null };
  return { health: 'cooling_down', cooldown_until: new Date(untilMs).toISOString() };
}

/** A provider is well while any endpoint that can be called is. */
export function providerHealth(deps: HealthDeps, endpointIds: readonly string[]): Endpoint['health'] {
  if (endpointIds.length === 0) return 'healthy';
  const anyWell = endpointIds.some((id) => endpointHealth(deps, id).health === 'healthy');
  return anyWell ? 'healthy' : 'cooling_down';
}
