import { createHash } from 'node:crypto';

/**
 * How many shards the organizations are spread over. All keys of a shard carry one hash tag, so every script uses one slot,
 * and a worker reads this many usage streams for any number of organizations.
 */
export const SHARDS = 16;

/** The prefix of every key of a shard. */
export function prefixOfShard(shard: number): string {
  return `relay:{s${shard}}:`;
}

export function prefixOf(organizationId: string): string {
  const digest = createHash('sha256').update(organizationId).digest();
  return prefixOfShard(digest.readUInt32BE(0) % SHARDS);
}

/** The stream where a shard's settled requests wait for the ledger. Scripts append to it under the same name. */
export function usageStreamOf(prefix: string): string {
  return `${prefix}usage`;
}
