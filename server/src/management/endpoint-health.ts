import type { Endpoint } from '@relay/contract';
import type { ManagementDeps } from './resources/deps.ts';

type HealthDeps = Pick<ManagementDeps, 'admission' | 'clock'>;

/**
 * The health of an endpoint from admission's state. Admission knows when a cooldown ends but not its cause, so
 * a rate-limited and an overloaded provider look the same here.
 */
export function endpointHealth(
  deps: HealthDeps,
  endpointId: string,
): Pick<Endpoint, 'health' | 'cooldown_until'> {
  const untilMs = deps.admission.cooldownUntilMs(endpointId);
  if (untilMs === null || untilMs <= deps.clock.nowMs()) return { health: 'healthy', cooldown_until: null };
  return { health: 'cooling_down', cooldown_until: new Date(untilMs).toISOString() };
}

/** A provider is healthy while any of these endpoints is. */
export function providerHealth(deps: HealthDeps, endpointIds: readonly string[]): Endpoint['health'] {
  if (endpointIds.length === 0) return 'healthy';
  const anyWell = endpointIds.some((id) => endpointHealth(deps, id).health === 'healthy');
  return anyWell ? 'healthy' : 'cooling_down';
}
