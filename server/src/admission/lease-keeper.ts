import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { prefixOf } from '../store/redis/shards.ts';
import type { AdmissionAsk, AdmissionEngine } from './engine.ts';
import type { RebuildWindows } from './rebuild-windows.ts';

/** How long a lease lives without a heartbeat, and how often one is sent. */
export const LEASE_MS = 20_000;
const HEARTBEAT_MS = 5_000;
/** Each lease has its own rhythm, so that what the store has lost is noticed within a heartbeat and not within two. */
const LOOK_MS = 1_000;
const OPERATIONS_PER_HEARTBEAT = 500;
const RESTORES_AT_ONCE = 16;

/** A request of this process that holds something at the engine, or may. */
export interface LiveOperation {
  readonly ask: AdmissionAsk;
  state: 'waiting' | 'dispatched';
  candidate: number;
  dispatchedMs: number;
  /** Since when it waits, or does not. */
  readonly stateSinceMs: number;
  /** When its lease last had its whole life before it. */
  leasedMs: number;
  wake: (() => void) | null;
  /** Its draft is in the journal. */
  journaled: boolean;
  /** An attempt of it was sent and failed: however it goes on, it needs its row. */
  readonly sent: boolean;
}

/** Keeps the leases of this process alive, and writes them down again when the store has lost them. */
export function createLeaseKeeper(deps: {
  readonly engine: AdmissionEngine;
  readonly live: ReadonlyMap<string, LiveOperation>;
  readonly rebuild: RebuildWindows;
  readonly clock: Clock;
  readonly log: Log;
}): { start(): void; stop(): void } {
  const { engine, live, clock, log } = deps;
  let heartbeat: NodeJS.Timeout | null = null;
  let beating = false;

  /** Requests that are over within a heartbeat, which most are, are never mentioned. */
  function due(nowMs: number): Iterable<string[]> {
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
    return shards.values();
  }

  async function extend(operationIds: readonly string[]): Promise<void> {
    for (let from = 0; from < operationIds.length; from += OPERATIONS_PER_HEARTBEAT) {
      const batch = operationIds.slice(from, from + OPERATIONS_PER_HEARTBEAT);
      // Any organization of the shard leads to it.
      const organizationId = batch
        .map((id) => live.get(id)?.ask.organizationId)
        .find((id) => id !== undefined);
      if (organizationId === undefined) continue;
      const leasedMs = clock.monotonicMs();
      const unknown = await engine.extend(organizationId, batch, LEASE_MS);
      for (let at = 0; at < unknown.length; at += RESTORES_AT_ONCE)
        await Promise.all(unknown.slice(at, at + RESTORES_AT_ONCE).map(restore));
      for (const operationId of batch) {
        const found = live.get(operationId);
        if (found !== undefined) found.leasedMs = leasedMs;
      }
    }
  }

  /** The store has forgotten an operation: what is under way is written down again, what waits asks again by itself. */
  async function restore(operationId: string): Promise<void> {
    const found = live.get(operationId);
    if (found === undefined) return;
    if (found.state === 'waiting') {
      found.wake?.();
      return;
    }
    const agoMs = clock.monotonicMs() - found.dispatchedMs;
    if (await engine.restore(found.ask, found.candidate, agoMs)) return;
    await deps.rebuild(found.ask);
    await engine.restore(found.ask, found.candidate, agoMs);
  }

  /** A shard that is away holds up no other. */
  async function beat(): Promise<void> {
    if (beating) return;
    beating = true;
    const beats = await Promise.allSettled([...due(clock.monotonicMs())].map(extend));
    beating = false;
    const failed = beats.find((each) => each.status === 'rejected');
    if (failed !== undefined) log.warn({ err: failed.reason as unknown }, 'leases could not be extended');
  }

  return {
    start() {
      heartbeat ??= setInterval(() => void beat(), LOOK_MS);
    },
    stop() {
      if (heartbeat !== null) clearInterval(heartbeat);
      heartbeat = null;
    },
  };
}
