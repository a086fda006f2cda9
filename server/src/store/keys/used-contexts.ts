import type { Clock } from '../../kit/clock.ts';
import type { Redis } from '../redis/redis.ts';

/** Which signed contexts were used, over all processes. */
export interface UsedContexts {
  /** True for the first caller, false for all later ones. Throws when it cannot be known. */
  claim(contextId: string): Promise<boolean>;
}

export interface UsedContextsOptions {
  readonly redis: Pick<Redis, 'run'>;
  readonly clock: Clock;
  /** How long a context can be accepted anywhere, including the allowed clock difference. */
  readonly lifeMs: number;
  /** Ids that one process remembers in memory. */
  readonly rememberedMax?: number;
}

/**
 * Redis covers all processes; the memory of one costs nothing and survives a Redis that lost its last writes. It is kept in
 * two halves, and the older half is dropped as a whole, so no id needs a timer.
 */
export function createUsedContexts(options: UsedContextsOptions): UsedContexts {
  const { redis, clock, lifeMs, rememberedMax = 100_000 } = options;
  let newer = new Set<string>();
  let older = new Set<string>();
  let halfSinceMs = clock.monotonicMs();

  function remember(contextId: string): boolean {
    const nowMs = clock.monotonicMs();
    if (nowMs - halfSinceMs >= lifeMs || newer.size >= rememberedMax / 2) {
      older = nowMs - halfSinceMs >= 2 * lifeMs ? new Set() : newer;
      newer = new Set();
      halfSinceMs = nowMs;
    }
    if (newer.has(contextId) || older.has(contextId)) return false;
    newer.add(contextId);
    return true;
  }

  return {
    async claim(contextId) {
      if (!remember(contextId)) return false;
      // One key per id, without a hash tag: they spread over all slots of a cluster.
      const key = `relay:context:${contextId}`;
      const reply = await redis.run(['SET', key, '1', 'NX', 'PX', String(lifeMs)], key);
      return reply === 'OK';
    },
  };
}
