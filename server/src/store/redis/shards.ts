import { createHash } from 'node:crypto';

/**
 * How many ways the organizations of a deployment are spread over a cluster. All keys of a shard carry one hash tag, so
 * every step is one slot, and a worker has this many usage streams to read, however many organizations there are.
 */
export const SHARDS = 16;

/** What every key of a shard starts with. */
export function prefixOfShard(shard: number): string {
  return `relay:{s${shard}}:`;
}

export function prefixOf(organizationId: string): string {
  const digest = createHash('sha256').update(organizationId).digest();
  return prefixOfShard(digest.readUInt32BE(0) % SHARDS);
}

/** Where settled requests of a shard wait for the ledger. Scripts append to it under the same name. */
export function usageStreamOf(prefix: string): string {
  return `${prefix}usage`;
}
