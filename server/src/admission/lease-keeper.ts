import type { Clock } from '../kit/clock.ts';
import { entryIn } from '../kit/entry-in.ts';
import type { Log } from '../kit/log.ts';
import { prefixOf } from '../store/redis/shards.ts';
import type { AdmissionEngine } from './engine.ts';
import type { LiveOperation, LiveOperations } from './live-operations.ts';
import { inParts, type RestoreDeps, restoreEarlier, restoreOperation } from './restore-operation.ts';

/** How long a lease lives without a heartbeat. */
export const LEASE_MS = 20_000;
const HEARTBEAT_MS = 5_000;
/** Each lease has its own rhythm, so a lease that the store lost is noticed within one heartbeat. */
const CHECK_EVERY_MS = 1_000;
const OPERATIONS_PER_HEARTBEAT = 500;

export interface KeeperDeps extends RestoreDeps {
  readonly engine: Pick<AdmissionEngine, 'extend' | 'restore' | 'restoreUses'>;
  readonly live: LiveOperations;
  /** Whether everything of the shard is being written again. */
  readonly isRestarting: (shard: string) => boolean;
  /** Asks again for a waiter that the store lost. */
  readonly lost: (operationId: string) => void;
  readonly clock: Clock;
  readonly log: Log;
}

export interface LeaseKeeper {
  start(): void;
  /** One heartbeat. */
  beat(): Promise<void>;
  /** The store has forgotten what the requests of a shard hold: writes all of them again, unless that is not wanted any more. */
  restoreAll(shard: string, isWanted: () => boolean): Promise<void>;
  stop(): void;
}

/** Extends the leases of this process, and writes those again that the store lost. */
export function createLeaseKeeper(deps: KeeperDeps): LeaseKeeper {
  let timer: NodeJS.Timeout | null = null;
  let beating = false;
  let isFailing = false;

  async function beat(): Promise<void> {
    if (beating) return;
    beating = true;
    // Shards are extended apart, so that one that is unavailable does not delay the others.
    const beats = await Promise.allSettled(toExtend(deps).map((ids) => extend(deps, ids)));
    beating = false;
    const failed = beats.find((each) => each.status === 'rejected');
    // Once for an outage.
    if (failed !== undefined && !isFailing) deps.log.warn({ err: failed.reason }, 'could not extend leases');
    isFailing = failed !== undefined;
  }

  return {
    beat,
    async restoreAll(shard, isWanted) {
      const lost = [...deps.live].filter(([, { ask }]) => prefixOf(ask.organizationId) === shard);
      await inParts(lost, async ([operationId, found]) => {
        if (!isWanted()) return;
        // Only after a loss: if a lease expired, the windows still have the earlier attempts.
        await restoreEarlier(deps, found, isWanted);
        await restore(deps, operationId, found);
      });
    },
    start() {
      timer ??= setInterval(() => void beat(), CHECK_EVERY_MS);
    },
    stop() {
      if (timer !== null) clearInterval(timer);
      timer = null;
    },
  };
}

/**
 * By shard. Most requests end within a heartbeat and are never extended. One of each shard always is: so a process that only waits for
 * providers learns soon that the store has lost its state.
 */
function toExtend({ live, clock }: KeeperDeps): string[][] {
  const nowMs = clock.monotonicMs();
  const shards = new Map<string, string[]>();
  const prefixes = new Map<string, string>();
  const firsts = new Map<string, string>();
  for (const [operationId, { ask, leasedMs }] of live) {
    const prefix = entryIn(prefixes, ask.organizationId, prefixOf);
    if (!firsts.has(prefix)) firsts.set(prefix, operationId);
    if (nowMs - leasedMs >= HEARTBEAT_MS) entryIn(shards, prefix, () => []).push(operationId);
  }
  return [...firsts].map(([prefix, operationId]) => shards.get(prefix) ?? [operationId]);
}

async function extend(deps: KeeperDeps, operationIds: readonly string[]): Promise<void> {
  const { engine, live, clock } = deps;
  for (let from = 0; from < operationIds.length; from += OPERATIONS_PER_HEARTBEAT) {
    const batch = operationIds.slice(from, from + OPERATIONS_PER_HEARTBEAT);
    // Any organization of the shard leads to the shard.
    const organizationId = batch.map((id) => live.get(id)?.ask.organizationId).find((id) => id !== undefined);
    if (organizationId === undefined) continue;
    const leasedMs = clock.monotonicMs();
    const unknown = await engine.extend(organizationId, batch, LEASE_MS);
    // Those who write everything again choose when windows are read from the ledger.
    if (deps.isRestarting(prefixOf(organizationId))) return;
    await inParts(unknown, async (operationId) => {
      const found = live.get(operationId);
      if (found !== undefined) await restore(deps, operationId, found);
    });
    for (const operationId of batch) {
      const found = live.get(operationId);
      if (found !== undefined) found.leasedMs = leasedMs;
    }
  }
}

/** The store lost an operation: one in flight is written again, one that waits asks again. */
async function restore(deps: KeeperDeps, operationId: string, found: LiveOperation): Promise<void> {
  if (found.state === 'waiting') deps.lost(operationId);
  else await restoreOperation(deps, found, () => deps.live.get(operationId) === found);
}
