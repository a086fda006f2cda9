import type { Clock } from '../kit/clock.ts';
import type { AdmissionEngine } from './engine.ts';
import type { LiveOperation } from './live-operations.ts';
import type { RebuildWindows } from './rebuild-windows.ts';

export interface RestoreDeps {
  readonly engine: Pick<AdmissionEngine, 'restore'>;
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
  const restore = async () => {
    if (await write()) return;
    await rebuild(ask);
    await write();
  };
  const restoring = restore();
  operation.restoring = restoring.catch(() => undefined);
  await restoring;
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
