import type { Endpoint, Health, HealthDetail } from '@relay/contract';
import type { ManagementDeps } from './resources/deps.ts';

type HealthDeps = Pick<ManagementDeps, 'admission' | 'clock'>;

const NOTHING_SEEN: HealthDetail = {
  reason: null,
  since: null,
  requests: 0,
  error_share: null,
  last_error: null,
};

/** The health of an endpoint from admission's state, which knows cooldowns only. */
export function endpointHealth(
  deps: HealthDeps,
  endpointId: string,
): Pick<Endpoint, 'health' | 'health_detail' | 'cooldown_until'> {
  const untilMs = deps.admission.cooldownUntilMs(endpointId);
  if (untilMs === null || untilMs <= deps.clock.nowMs())
    return { health: 'unknown', health_detail: NOTHING_SEEN, cooldown_until: null };
  return {
    health: 'rate_limited',
    health_detail: NOTHING_SEEN,
    cooldown_until: new Date(untilMs).toISOString(),
  };
}

/** A provider is rate-limited when all of these endpoints are. */
export function providerHealth(
  deps: HealthDeps,
  endpointIds: readonly string[],
): { health: Health; health_detail: HealthDetail } {
  const states = endpointIds.map((id) => endpointHealth(deps, id).health);
  const isLimited = states.length > 0 && states.every((state) => state === 'rate_limited');
  return { health: isLimited ? 'rate_limited' : 'unknown', health_detail: NOTHING_SEEN };
}
