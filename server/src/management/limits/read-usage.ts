import type { LimitUsage } from '@relay/contract';
import type { Limit } from '../../domain/limits/limit.ts';
import { RelayError } from '../../domain/relay-error.ts';
import { readLimitState } from '../limit-state.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { toLimitUsage } from './usage-wire.ts';

export type UsageDeps = Pick<ManagementDeps, 'ofOrganization' | 'snapshots' | 'clock' | 'limitUsage'>;

/** The live state of these limits, in the same order. */
export async function readLimitUsage(
  deps: Pick<UsageDeps, 'clock' | 'limitUsage'>,
  organizationId: string,
  limits: readonly Limit[],
): Promise<LimitUsage[]> {
  const usages = await readLimitState(
    deps,
    organizationId,
    limits.map(({ applied }) => applied),
  );
  const nowMs = deps.clock.nowMs();
  return limits.map((limit) => {
    const usage = usages.get(limit.applied.id);
    if (usage !== undefined) return toLimitUsage(limit, usage, nowMs);
    throw new RelayError('internal_error', { internal: `no usage was answered for ${limit.applied.id}` });
  });
}
