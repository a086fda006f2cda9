import type { Endpoint, Provider } from '@relay/contract';
import { NOTHING_SEEN, type SeenHealth, seenHealth } from '../domain/routing/health-view.ts';
import { providerHealth } from '../domain/routing/provider-health.ts';
import { routingTableOf } from '../domain/routing/routing.ts';
import type { ManagementDeps } from './resources/deps.ts';

export type HealthDeps = Pick<ManagementDeps, 'admission' | 'clock' | 'snapshots' | 'health'>;

/** Reads the health of these endpoints of an organization, as all gateways have seen it. */
export async function readHealth(
  deps: HealthDeps,
  organizationId: string,
  endpointIds: readonly string[],
): Promise<(endpointId: string) => SeenHealth> {
  if (endpointIds.length === 0) return () => NOTHING_SEEN;
  const snapshot = deps.snapshots.get(organizationId) ?? (await deps.snapshots.load(organizationId));
  const { candidates } = routingTableOf(snapshot);
  const asked = endpointIds.flatMap((id) => candidates.get(id) ?? []);
  const known = await deps.health.read(organizationId, asked);
  const nowMs = deps.clock.nowMs();
  return (id) => {
    const cooldownUntilMs = deps.admission.cooldownUntilMs(id);
    return seenHealth({ endpoint: null, credential: null, ...known.get(id), cooldownUntilMs }, nowMs);
  };
}

export function endpointFields({
  health,
  detail,
  cooldownUntilMs,
}: SeenHealth): Pick<Endpoint, 'health' | 'health_detail' | 'cooldown_until'> {
  return {
    health,
    health_detail: detail,
    cooldown_until: cooldownUntilMs === null ? null : new Date(cooldownUntilMs).toISOString(),
  };
}

export function providerFields(endpoints: readonly SeenHealth[]): Pick<Provider, 'health' | 'health_detail'> {
  const { health, detail } = providerHealth(endpoints);
  return { health, health_detail: detail };
}
