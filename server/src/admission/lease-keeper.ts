import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { prefixOf } from '../store/redis/shards.ts';
import type { AdmissionEngine } from './engine.ts';
import type { LiveOperations } from './live-operations.ts';
import type { RebuildWindows } from './rebuild-windows.ts';

/** How long a lease lives without a heartbeat. */
export const LEASE_MS = 20_000;
const HEARTBEAT_MS = 5_000;
/** Each lease has its own rhythm, so a lease that the store lost is noticed within one heartbeat. */
const CHECK_EVERY_MS = 1_000;
const OPERATIONS_PER_HEARTBEAT = 500;
const RESTORES_IN_PARALLEL = 16;

interface KeeperDeps {
  readonly engine: AdmissionEngine;
  readonly live: LiveOperations;
  readonly rebuild: RebuildWindows;
  readonly clock: Clock;
  readonly log: Log;
}

/** Extends the leases of this process, and writes those again that the store lost. */
export function createLeaseKeeper(deps: KeeperDeps): { start(): void; stop(): void } {
  let timer: NodeJS.Timeout | null = null;
  let beating = false;

  async function beat(): Promise<void> {
    if (beating) return;
    beating = true;
    // Shards are extended apart, so that one that is unavailable does not delay the others.
    const beats = await Promise.allSettled(dueByShard(deps).map((ids) => extend(deps, ids)));
    beating = false;
    const failed = beats.find((each) => each.status === 'rejected');
    if (failed !== undefined) deps.log.warn({ err: failed.reason }, 'leases could not be extended');
  }

  return {
    start() {
      timer ??= setInterval(() => void beat(), CHECK_EVERY_MS);
    },
    stop() {
      if (timer !== null) clearInterval(timer);
      timer = null;
    },
  };
}

/** Most requests end within a heartbeat and are never extended. */
function dueByShard({ live, clock }: KeeperDeps): string[][] {
  const nowMs = clock.monotonicMs();
  const shards = new Map<string, string[]>();
  const prefixes = new Map<string, string>();
  for (const [operationId, { ask, leasedMs }] of live) {
    if (nowMs - leasedMs < HEARTBEAT_MS) continue;
    const prefix = prefixes.get(ask.organizationId) ?? prefixOf(ask.organizationId);
    prefixes.set(ask.organizationId, prefix);
    const operationIds = shards.get(prefix);
    if (operationIds === undefined) shards.set(prefix, [operationId]);
    else operationIds.push(operationId);
  }
  return [...shards.values()];
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
    for (let at = 0; at < unknown.length; at += RESTORES_IN_PARALLEL)
      await Promise.all(unknown.slice(at, at + RESTORES_IN_PARALLEL).map((id) => restore(deps, id)));
    for (const operationId of batch) {
      const found = live.get(operationId);
      if (found !== undefined) found.leasedMs = leasedMs;
    }
  }
}

/** The store lost an operation: one in flight is written again, one that waits is woken and asks again. */
async function restore({ engine, live, rebuild, clock }: KeeperDeps, operationId: string): Promise<void> {
  const found = live.get(operationId);
  if (found === undefined) return;
  if (found.state === 'waiting') {
    found.wake?.();
    return;
  }
  const agoMs = clock.monotonicMs() - found.dispatchedMs;
  if (await engine.restore(found.ask, found.candidate, agoMs)) return;
  await rebuild(found.ask);
  await engine.restore(found.ask, found.candidate, agoMs);
}
