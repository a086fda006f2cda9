import { hash } from 'node:crypto';

/**
 * How many shards the organizations are spread over. All keys of a shard carry one hash tag, so every script uses one slot, and a
 * cluster can grow to as many masters. Sweeps and workers read those in use (`active-shards.ts`).
 */
export const SHARDS = 1_024;

/** The prefix of every key of a shard. */
export function prefixOfShard(shard: number): string {
  return `relay:{s${shard}}:`;
}

export function shardOfPrefix(prefix: string): number {
  return Number(/\{s(\d+)\}/.exec(prefix)?.[1]);
}

export function prefixOf(organizationId: string): string {
  // Computed for every call to Redis: as text the digest costs less than a third of what its bytes do.
  const digest = Number.parseInt(hash('sha256', organizationId).slice(0, 8), 16);
  return prefixOfShard(digest % SHARDS);
}

/** How long no request is let in after the state of a shard was started again: what was lost is written again meanwhile. */
export const SHARD_CLOSED_MS = 2_500;

/** The stream where a shard's settled requests wait for the ledger. Scripts append to it under the same name. */
export function usageStreamOf(prefix: string): string {
  return `${prefix}usage`;
}
