import { channel } from 'node:diagnostics_channel';
import type { Clock } from '../kit/clock.ts';
import { prefixOf } from '../store/redis/shards.ts';
import type { AdmissionEngine, SettleAsk } from './engine.ts';
import type { Journal } from './journal.ts';
import { createKeptSettlements, type KeptSettlement, type KeptSettlements } from './kept-settlements.ts';
import type { LiveOperation } from './live-operations.ts';
import { inParts, type RestoreDeps, restoreEarlier, restoreOperation } from './restore-operation.ts';

const WATCH_MS = 1_000;
const settled = channel('relay:settled');

/** Tells a watcher of the process that nothing is left to settle of a request. */
export function tellSettled(operationId: string): void {
  if (settled.hasSubscribers) settled.publish({ operationId });
}

export interface SettlementsDeps extends RestoreDeps {
  readonly engine: Pick<AdmissionEngine, 'settle' | 'restore' | 'restoreUses' | 'extend'>;
  readonly journal: Journal;
  /** Those of these requests that the ledger has. Without it, settlements are not kept: the store cannot lose them. */
  readonly posted?: (operationIds: readonly string[]) => Promise<ReadonlySet<string>>;
  readonly clock: Clock;
  readonly warn: (error: unknown, message: string) => void;
}

export interface Settlements {
  /** Settles at the engine, or in the journal when the engine fails or the draft is there. Keeps the settlement until the ledger has it. */
  send(settlement: SettleAsk, operation: LiveOperation): void;
  /** From now on settlements of the shard wait: the store has forgotten what they give back. */
  hold(shard: string): void;
  isHeld(shard: string): boolean;
  /** Forgets what the ledger has. */
  forgetPosted(): Promise<void>;
  /** Charges and settles again what the store was given before that moment, and what waits, unless that is not wanted any more. */
  sendAgain(shard: string, beforeMs: number, isWanted: () => boolean): Promise<void>;
  /** Ends `hold`, and sends what still waits. */
  release(shard: string): void;
  /** Keeps an eye on what the ledger has not got yet, until `drain`. */
  start(): void;
  /** Waits for settlements in flight; returns how many are left at the timeout. */
  drain(timeoutMs: number): Promise<number>;
}

export function createSettlements(deps: SettlementsDeps): Settlements {
  const { clock } = deps;
  const kept = createKeptSettlements(deps);
  /** How many hold a shard: it may be lost again before it is rebuilt. */
  const held = new Map<string, number>();
  let unsettled = 0;
  let timer: NodeJS.Timeout | null = null;

  async function send(each: KeptSettlement): Promise<void> {
    await settle(deps, each);
    tellSettled(each.settlement.operationId);
    unsettled -= 1;
    if (deps.posted === undefined) kept.delete(each);
  }

  async function sendAgain(each: KeptSettlement): Promise<void> {
    await settleAgain(deps, each);
    if (each.sending !== null) return;
    each.sending = Promise.resolve();
    unsettled -= 1;
  }

  /** Those that the store may have lost. */
  function lostOf(shard: string, beforeMs: number): KeptSettlement[] {
    return kept.of(shard).filter(({ settledMs }) => settledMs === null || settledMs <= beforeMs);
  }

  function sendHeld(shard: string): void {
    held.delete(shard);
    for (const each of kept.of(shard)) each.sending ??= send(each);
  }

  return {
    send(settlement, operation) {
      const shard = prefixOf(settlement.organizationId);
      const each: KeptSettlement = { settlement, operation, shard, settledMs: null, sending: null };
      kept.add(each);
      unsettled += 1;
      if (operation.journaled || !held.has(shard)) each.sending = send(each);
    },
    hold: (shard) => void held.set(shard, (held.get(shard) ?? 0) + 1),
    isHeld: (shard) => held.has(shard),
    forgetPosted: kept.forgetPosted,
    async sendAgain(shard, beforeMs, isWanted) {
      await Promise.all(kept.of(shard).map(({ sending }) => sending));
      for (let lost = lostOf(shard, beforeMs); lost.length > 0 && isWanted(); lost = lostOf(shard, beforeMs))
        await inParts(lost, async (each) => isWanted() && sendAgain(each));
    },
    release(shard) {
      const others = (held.get(shard) ?? 1) - 1;
      if (others > 0) held.set(shard, others);
      else sendHeld(shard);
    },
    start() {
      if (deps.posted === undefined) return;
      // PostgreSQL or Redis is unavailable if it fails, which others tell.
      timer ??= setInterval(() => void watch(deps, kept).catch(() => undefined), WATCH_MS);
    },
    async drain(timeoutMs) {
      if (timer !== null) clearInterval(timer);
      timer = null;
      for (const shard of [...held.keys()]) sendHeld(shard);
      const deadlineMs = clock.monotonicMs() + timeoutMs;
      while (unsettled > 0 && clock.monotonicMs() < deadlineMs) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return unsettled;
    },
  };
}

async function settle(
  { engine, journal, clock, warn }: SettlementsDeps,
  each: KeptSettlement,
): Promise<void> {
  // It counts as lost if the store's state was started again before the answer came.
  const sentMs = clock.monotonicMs();
  if (each.operation.journaled) {
    // Its draft is there. The journal delivers both once, and the store may lose them after that.
    journal.settlement(each.settlement);
    each.settledMs = sentMs;
    return;
  }
  try {
    // Otherwise in the same turn: who asks next finds the capacity free.
    if (each.operation.restoring !== undefined) await each.operation.restoring;
    await engine.settle(each.settlement);
    each.settledMs = sentMs;
  } catch (error) {
    warn(error, 'keeping settlements on disk until the store accepts them');
    journal.settlement(each.settlement);
  }
}

/** Restores the operation's charges and the usage of its earlier attempts, because a loss may have taken them with the settlement. */
async function settleAgain(deps: SettlementsDeps, each: KeptSettlement): Promise<void> {
  const { operation } = each;
  const sentMs = deps.clock.monotonicMs();
  await operation.restoring;
  await restoreEarlier(deps, operation);
  if (operation.state === 'dispatched') {
    each.isRestored = true;
    await restoreOperation(deps, operation);
  }
  await deps.engine.settle(each.settlement);
  each.isRestored = false;
  each.settledMs = sentMs;
}

/**
 * Forgets what the ledger has. A shard may have lost what the ledger does not have yet: any call tells, and this process has to know it before
 * the shard opens again, also when it has nothing in flight there.
 */
async function watch({ engine }: SettlementsDeps, kept: KeptSettlements): Promise<void> {
  const shards = new Map<string, SettleAsk>();
  for (const { shard, settlement } of kept.all()) shards.set(shard, settlement);
  const asks = [...shards.values()].map(({ organizationId, operationId }) =>
    engine.extend(organizationId, [operationId], 0),
  );
  await Promise.allSettled([kept.forgetPosted(), ...asks]);
}
