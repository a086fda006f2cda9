import type { Clock } from '../kit/clock.ts';
import type { AdmissionEngine } from './engine.ts';
import { type LiveOperation, pastUsesOf } from './live-operations.ts';
import type { RebuildWindows } from './rebuild-windows.ts';

export interface RestoreDeps {
  readonly engine: Pick<AdmissionEngine, 'restore' | 'restoreUses'>;
  readonly rebuild: RebuildWindows;
  readonly clock: Clock;
}

/**
 * Writes a dispatched operation again that the store lost, charged when it was dispatched. Unknown windows are rebuilt first. Its settlement waits
 * for this: a lease that is written after it would hold capacity for a request that has ended.
 */
export async function restoreOperation(
  { engine, rebuild, clock }: RestoreDeps,
  operation: LiveOperation,
  isWanted: () => boolean = () => true,
): Promise<void> {
  const { ask, candidate, dispatchedMs } = operation;
  const write = () => !isWanted() || engine.restore(ask, candidate, clock.monotonicMs() - dispatchedMs);
  const restoring = writeRebuilt(write, () => rebuild(ask));
  operation.restoring = restoring.catch(() => undefined);
  await restoring;
}

/** Restores the usage of a request's earlier attempts in windows that the store has lost. Rebuilds unknown windows first. */
export async function restoreEarlier(
  { engine, rebuild, clock }: RestoreDeps,
  operation: LiveOperation,
  isWanted: () => boolean = () => true,
): Promise<void> {
  const { organizationId, operationId } = operation.ask;
  const usesNow = () => pastUsesOf(operation, clock.monotonicMs());
  if (operation.earlier.length === 0 || usesNow().length === 0) return;
  const write = () => !isWanted() || engine.restoreUses(organizationId, operationId, usesNow());
  await writeRebuilt(write, () => rebuild({ organizationId, candidates: operation.earlier }));
}

/** Rebuilds windows and writes again if the engine did not know them. */
async function writeRebuilt(
  write: () => boolean | Promise<boolean>,
  rebuild: () => Promise<void>,
): Promise<void> {
  if (await write()) return;
  await rebuild();
  await write();
}

const IN_PARALLEL = 16;

/** A few at a time, so that a restart does not fill the store's queue. After a failure, none of them is left running. */
export async function inParts<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < items.length; from += IN_PARALLEL) {
    const acts = await Promise.allSettled(items.slice(from, from + IN_PARALLEL).map(act));
    const failed = acts.find((each) => each.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}
