import type { Kysely } from 'kysely';
import type { Clock } from '../../kit/clock.ts';
import type { Log } from '../../kit/log.ts';
import { createThrottle } from '../../kit/throttle.ts';
import { type OutboxBacklog, readOutboxBacklog } from '../../store/ledger/sinks/outbox.ts';
import { PortionLostError, releaseLease, takeLease } from '../../store/ledger/sinks/portions.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { LedgerSink } from './ledger-sink.ts';
import { finishPortions, writePortion } from './write-portion.ts';

const LOOK_MS = 1_000;
const FAILURE_MS = 5_000;
/** About 64 MiB of lines: a portion is due before its time when this many rows wait. */
const ROWS_DUE = 50_000;
/** Longer than a portion takes. A worker that is killed keeps the others waiting for this long. */
const LEASE_MS = 15_000;
const STOP_MS_MAX = 5_000;

export interface FollowDeps {
  readonly db: Kysely<Database>;
  readonly sink: LedgerSink;
  /** Unique per process. */
  readonly holder: string;
  /** How long a row waits for others before its portion is written. */
  readonly gatherMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

export interface SinkState {
  /** Null before the first look, and while the database does not answer. */
  readonly backlog: OutboxBacklog | null;
  /** Rows that this process has written. */
  readonly rows: number;
  readonly failures: number;
}

export interface SinkFollower {
  readonly name: string;
  /** From memory. */
  state(): SinkState;
  /** Writes what is due. Never rejects. */
  runOnce(): Promise<void>;
  /** Writes what waits, due or not, unless the sink is failing, for a bounded time; the next process writes the rest. */
  stop(): Promise<void>;
}

/**
 * Carries the rows that the ledger has committed to another sink. Every worker does this; a lease lets one of them write at a time. While the
 * sink fails, rows wait in the database and the ledger is not affected.
 */
export function followLedger(deps: FollowDeps): SinkFollower {
  const { sink, clock } = deps;
  let running: Promise<number> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isStopping = false;
  let endMs = Number.POSITIVE_INFINITY;
  const turns = createTurns(deps, () => clock.monotonicMs() < endMs);

  function run(isLast: boolean): Promise<number> {
    running ??= turns.run(isLast).finally(() => {
      running = null;
    });
    return running;
  }

  function schedule(delayMs: number): void {
    if (isStopping) return;
    timer = setTimeout(() => void run(false).then(schedule), delayMs);
    timer.unref();
  }

  schedule(LOOK_MS);
  return {
    name: sink.name,
    state: turns.state,
    async runOnce() {
      await run(false);
    },
    async stop() {
      isStopping = true;
      endMs = clock.monotonicMs() + STOP_MS_MAX;
      clearTimeout(timer);
      await running;
      if (!turns.isFailing()) await run(true);
      await sink.close();
    },
  };
}

/** `mayGoOn`: whether there is time for another portion. */
function createTurns(deps: FollowDeps, mayGoOn: () => boolean) {
  const { db, sink, holder, gatherMs, log } = deps;
  const mayLog = createThrottle(deps.clock);
  let backlog: OutboxBacklog | null = null;
  let [rows, failures, isFailing] = [0, 0, false];

  async function look(): Promise<OutboxBacklog> {
    backlog = null;
    backlog = await readOutboxBacklog(db, sink.name);
    return backlog;
  }

  async function writeAll(): Promise<void> {
    try {
      // For each portion: a backlog takes longer to write than a lease lasts.
      for (let hasMore = true; hasMore && (await takeLease(db, sink.name, holder, LEASE_MS)); ) {
        const written = await writePortion(deps);
        rows += written.rows;
        hasMore = written.hasMore && mayGoOn();
      }
      await look();
    } finally {
      await releaseLease(db, sink.name, holder);
    }
  }

  function fail(error: unknown): void {
    // Another process was faster, after the lease had run out.
    if (error instanceof PortionLostError) return;
    failures += 1;
    isFailing = true;
    if (mayLog())
      log.error({ err: error, sink: sink.name }, 'cannot write to a usage sink; rows are waiting');
  }

  return {
    state: (): SinkState => ({ backlog, rows, failures }),
    isFailing: () => isFailing,
    /** Answers when to look again. */
    async run(isLast: boolean): Promise<number> {
      try {
        const found = await look();
        await finishPortions(deps);
        const isDue = found.oldestMs >= gatherMs || found.rows >= ROWS_DUE;
        if (found.batches > 0 && (isDue || isLast)) await writeAll();
        if (isFailing) log.info({ sink: sink.name }, 'the usage sink is writable again');
        isFailing = false;
        return LOOK_MS;
      } catch (error) {
        fail(error);
        return FAILURE_MS;
      }
    },
  };
}
