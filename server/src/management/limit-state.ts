import type { PolicyUsage } from '../admission/engine.ts';
import type { AppliedLimit } from '../domain/limits/limit.ts';
import { RelayError } from '../domain/relay-error.ts';
import type { ManagementDeps } from './resources/deps.ts';

/** One read blocks the limits engine, so long lists are read in parts. */
const LIMITS_PER_READ = 100;

/** The live state of limits, by limit; one that the engine did not answer for is not in it. */
export async function readLimitState(
  { limitUsage }: Pick<ManagementDeps, 'limitUsage'>,
  organizationId: string,
  limits: readonly AppliedLimit[],
  message = 'Limit state is unavailable. Retry shortly.',
): Promise<Map<string, PolicyUsage>> {
  const usages = new Map<string, PolicyUsage>();
  try {
    for (let from = 0; from < limits.length; from += LIMITS_PER_READ) {
      const some = limits.slice(from, from + LIMITS_PER_READ);
      for (const usage of await limitUsage(organizationId, some)) usages.set(usage.policyId, usage);
    }
    return usages;
  } catch (error) {
    if (!(error instanceof RelayError && error.code === 'store_unavailable')) throw error;
    // The database is available, so the error must not blame it.
    throw new RelayError('policy_unavailable', {
      message,
      internal: error.detail.internal ?? error.message,
      cause: error,
    });
  }
}
