import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../kit/clock.ts';
import type { LeaseKeeper } from './lease-keeper.ts';
import type { WindowRebuilder } from './rebuild-windows.ts';
import type { Settlements } from './settlements.ts';

/** Before the shard opens: by then every gateway knows of the loss, and workers have written what they had read before it. They write no more until it opens. */
const READ_MS = 1_300;
/** Every gateway has looked into the ledger before the first of them starts a window from it: a row of a slow worker then counts twice, not never. */
const APART_MS = 200;
const RETRY_MS = 500;
/** Without PostgreSQL or Redis for so long, settlements are sent as they are: rows matter more than windows. */
const GIVE_UP_MS = 60_000;

/** A shard whose state was started again. */
export interface RestartedShard {
  readonly shard: string;
  /** What was settled until then is lost. Monotonic. */
  readonly beforeMs: number;
  /** No request is let in before. */
  readonly opensInMs: number;
}

/** Writes what this process has in flight in a shard, and what it settled there and the ledger does not have. */
export type ReportShard = (restarted: RestartedShard) => Promise<void>;

/** A shard may be lost again while it is reported: then the report ends, and the next begins after it, so that nothing is charged by both. */
export function createShardReports(deps: {
  readonly keeper: Pick<LeaseKeeper, 'restoreAll'>;
  readonly settlements: Pick<Settlements, 'hold' | 'release' | 'forgetPosted' | 'sendAgain'>;
  readonly windows: Pick<WindowRebuilder, 'restarted'>;
}): ReportShard {
  const { settlements, windows } = deps;
  const newest = new Map<string, RestartedShard>();
  const running = new Map<string, Promise<void>>();

  return (restarted) => {
    const { shard } = restarted;
    newest.set(shard, restarted);
    settlements.hold(shard);
    windows.restarted();
    const before = running.get(shard) ?? Promise.resolve();
    const started = before
      .then(() => report(deps, restarted, () => newest.get(shard) === restarted))
      .finally(() => settlements.release(shard));
    running.set(
      shard,
      started.catch(() => undefined),
    );
    return started;
  };
}

async function report(
  { keeper, settlements }: Parameters<typeof createShardReports>[0],
  { shard, beforeMs, opensInMs }: RestartedShard,
  isNewest: () => boolean,
): Promise<void> {
  const readInMs = beforeMs + opensInMs - READ_MS - systemClock.monotonicMs();
  await delay(Math.max(0, readInMs), undefined, { ref: false });
  while (isNewest()) {
    try {
      await settlements.forgetPosted();
      await delay(APART_MS, undefined, { ref: false });
      await keeper.restoreAll(shard, isNewest);
      await settlements.sendAgain(shard, beforeMs, isNewest);
      return;
    } catch (error) {
      if (systemClock.monotonicMs() - beforeMs > GIVE_UP_MS) throw error;
      await delay(RETRY_MS, undefined, { ref: false });
    }
  }
}
