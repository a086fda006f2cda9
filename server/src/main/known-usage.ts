import type { AdmissionEngine, Opening } from '../admission/engine.ts';
import type { AppliedLimit } from '../domain/limits/limit.ts';
import { isSliding } from '../domain/limits/period.ts';

/**
 * The live counters of limits. Starts those that the engine does not know yet, so that a budget that is used up does not show
 * as unused before the next request.
 */
export function knownUsage(
  engine: Pick<AdmissionEngine, 'usage' | 'initialize'>,
  openings: (organizationId: string, limits: readonly AppliedLimit[]) => Promise<Opening[]>,
): AdmissionEngine['usage'] {
  return async (organizationId, limits) => {
    const usage = await engine.usage(organizationId, limits);
    const unknown = limits.filter(
      ({ period }, index) => period !== 'none' && !isSliding(period) && usage[index]?.mark === null,
    );
    if (unknown.length === 0) return usage;
    await engine.initialize(organizationId, await openings(organizationId, unknown));
    return engine.usage(organizationId, limits);
  };
}
