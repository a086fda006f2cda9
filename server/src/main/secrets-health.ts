import type { Health } from '../http/health.ts';
import type { Configuration } from './open-configuration.ts';
import { roles } from './roles.ts';
import type { Runtime } from './runtime.ts';

/** Why this process would fail requests for want of a secret. Empty when it would not. */
export function secretsHealth(
  { roleName }: Pick<Runtime, 'roleName'>,
  { secrets, owner, snapshots }: Pick<Configuration, 'secrets' | 'owner' | 'snapshots'>,
): Pick<Health, 'secrets'> {
  const fault = secrets.fault();
  if (fault !== null) return { secrets: { status: 'unavailable', detail: fault } };
  // In hosted mode, an organization whose credentials do not open says nothing about the others.
  const snapshot = owner === null || !roles[roleName].inference ? null : snapshots.get(owner.organizationId);
  const credentials = [...(snapshot?.credentials.values() ?? [])];
  if (credentials.length === 0 || credentials.some(({ secret }) => secret !== null)) return {};
  const detail =
    'No configured master key opens any of the stored provider credentials. Set the RELAY_MASTER_KEY that they were stored with.';
  return { secrets: { status: 'unavailable', detail } };
}
