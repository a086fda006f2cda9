import type { MemoryEngine } from '../../admission/memory/engine.ts';
import type { EngineMemory } from '../../admission/memory/operations.ts';

/** What a process has seen of a shard, with a call. */
export interface Fence {
  readonly prefix: string;
  readonly epoch: number;
  readonly sequence: number;
}

interface Shard {
  epoch: number;
  /** Every call raises it. */
  sequence: number;
  opensMs: number;
  shortUnknownUntilMs: number;
}

/** By prefix. */
export type Shards = Map<string, Shard>;

/** As the scripts do it: refuses a call of another epoch, and one that has seen a later state than this. */
export function passFences(shards: Shards, fences: readonly Fence[]): Map<string, number> {
  for (const { prefix, epoch, sequence } of fences) {
    const shard = shardOf(shards, prefix);
    if (shard.epoch !== epoch || shard.sequence < sequence)
      throw new Error(`EPOCH ${shard.epoch} ${shard.sequence} of ${prefix}`);
  }
  return new Map(
    fences.map(({ prefix }) => {
      const shard = shardOf(shards, prefix);
      shard.sequence += 1;
      return [prefix, shard.sequence];
    }),
  );
}

/** What `begin.lua` does: starts an epoch, or looks. */
export function beginEpoch(
  shards: Shards,
  { memory }: Pick<MemoryEngine, 'memory'>,
  nowMs: number,
  prefix: string,
  [, epoch, adopt, closedMs, shortMs, ...organizations]: readonly string[],
): number[] {
  const shard = shardOf(shards, prefix);
  const wanted = Number(epoch);
  if (wanted <= shard.epoch) return [shard.epoch, shard.sequence, Math.max(0, shard.opensMs - nowMs)];
  const isAdopted = adopt === 'adopt';
  if (!isAdopted) forgetOrganizations(memory as EngineMemory, organizations);
  shard.epoch = wanted;
  shard.sequence += 1;
  shard.opensMs = nowMs + (isAdopted ? 0 : Number(closedMs));
  shard.shortUnknownUntilMs = nowMs + Number(shortMs);
  return [wanted, shard.sequence, shard.opensMs - nowMs];
}

/** The value of the key `epoch`, as workers read it. */
export function epochText(shards: Shards, prefix: string): string | null {
  const shard = shards.get(prefix);
  if (shard === undefined || shard.epoch === 0) return null;
  return `${shard.epoch}:${shard.opensMs}:${shard.shortUnknownUntilMs}`;
}

export function shortUnknownUntilMs(shards: Shards): number {
  return Math.max(0, ...[...shards.values()].map((shard) => shard.shortUnknownUntilMs));
}

function shardOf(shards: Shards, prefix: string): Shard {
  const known = shards.get(prefix) ?? { epoch: 0, sequence: 0, opensMs: 0, shortUnknownUntilMs: 0 };
  shards.set(prefix, known);
  return known;
}

/** Leases keep their drafts, so that a request whose gateway is gone gets its row. */
function forgetOrganizations({ states, leases, late }: EngineMemory, organizations: readonly string[]): void {
  for (const organizationId of organizations) states.delete(organizationId);
  for (const [id, { organizationId }] of late) if (organizations.includes(organizationId)) late.delete(id);
  for (const [id, lease] of leases) {
    if (!organizations.includes(lease.organizationId)) continue;
    const { draft, candidate } = lease;
    const tried = lease.state === 'dispatched' ? { draft, candidate } : lease.tried;
    if (tried === null) leases.delete(id);
    else leases.set(id, { ...lease, state: 'tried', charges: [], units: [], tried });
  }
}
