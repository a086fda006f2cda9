import { isRejectedWrite } from '../rejected-write.ts';
import type { StoreHealth } from '../store-health.ts';
import type { Redis } from './redis.ts';

const EVERY_MS = 2_000;
/**
 * Redis rejects a script that may write, before it runs, whenever it would reject a write: when it is full, a replica, or cannot save. So this one
 * tells without writing, at each server of a cluster.
 */
const PROBE = ['EVAL', '#!lua\nreturn 1', '0'];
/** Asks every 2 seconds whether Redis accepts writes. Calls of requests that were rejected are noted when they fail. */
export function watchRedisWrites(
  redis: Pick<Redis, 'servers' | 'state'>,
  health: Pick<StoreHealth, 'failed' | 'works'>,
): { stop(): void } {
  async function look(): Promise<void> {
    // Not reached: nothing is known about writes, and the connection says why.
    if (!redis.state().ready) return;
    const replies = await Promise.allSettled(redis.servers().map((server) => server.run(PROBE)));
    const failures = replies.filter((reply) => reply.status === 'rejected');
    const rejected = failures.find(({ reason }) => isRejectedWrite(reason));
    if (rejected !== undefined) health.failed('write', rejected.reason);
    else if (failures.length === 0) health.works('write');
  }
  const timer = setInterval(() => void look(), EVERY_MS);
  timer.unref();
  void look();
  return { stop: () => clearInterval(timer) };
}
