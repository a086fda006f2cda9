import type { Redis } from '../store/redis/redis.ts';
import { SHARD_CLOSED_MS } from '../store/redis/shards.ts';

/** Whether the state of a shard was lost, and its windows are being started from the ledger: `begin.lua` says what `epoch` holds. */
export async function isClosedShard(redis: Redis, prefix: string): Promise<boolean> {
  const epoch = await redis.run(['GET', `${prefix}epoch`], prefix);
  const [, opensMs] = typeof epoch === 'string' ? epoch.split(':') : [];
  if (opensMs === undefined) return false;
  const time = await redis.run(['TIME'], prefix);
  const [seconds, micros] = Array.isArray(time) ? time.map(Number) : [];
  const inMs = Number(opensMs) - ((seconds ?? 0) * 1_000 + (micros ?? 0) / 1_000);
  // Further away than it can be: the clock of Redis was set back.
  return inMs > 0 && inMs <= SHARD_CLOSED_MS;
}
