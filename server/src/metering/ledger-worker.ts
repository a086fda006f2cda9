import type { Redis } from '../store/redis/redis.ts';
import { createLedgerTurn, createShardReaders } from './ledger-turn.ts';
import { startRetention } from './retention.ts';
import type { WriteDeps } from './write-entries.ts';

export interface LedgerWorkerDeps extends WriteDeps {
  readonly redis: Redis;
  /** Unique per process. Other processes claim the entries of a dead one. */
  readonly consumer: string;
  /** A worker that holds an entry for this long is considered dead, and the entry is claimed. */
  readonly abandonedMs?: number;
  readonly claimEveryMs?: number;
  /** Days that the ledger keeps its rows. */
  readonly retentionDays?: number;
}

export interface LedgerWorker {
  running(): boolean;
  /** Since the start. */
  counts(): { readonly rows: number; readonly poisoned: number };
  stop(): Promise<void>;
}

const IDLE_MS_MIN = 50;
const IDLE_MS_MAX = 250;
const FAILURE_MS = 1_000;
const RETENTION_DAYS = 400;

/**
 * Moves records from the usage streams of all shards in use into the ledger, a bounded number from each shard in turn. It acknowledges an
 * entry only after its rows are committed, and the ledger inserts a row once per request id. A worker may therefore die at any
 * moment, and another may repeat its work.
 */
export function startLedgerWorker(deps: LedgerWorkerDeps): LedgerWorker {
  const counts = { rows: 0, poisoned: 0 };
  const shards = createShardReaders(deps);
  let stopping = false;
  let wake: (() => void) | null = null;
  let troubled = false;
  const { turn, finish } = createLedgerTurn(deps, { shards, counts, trouble, isStopping: () => stopping });

  function pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, delayMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Logs an outage once. */
  function trouble(error: unknown): void {
    if (!troubled) deps.log.warn({ err: error }, 'cannot write to the ledger; records stay in the stream');
    troubled = true;
  }

  async function run(): Promise<void> {
    let idleMs = IDLE_MS_MIN;
    while (!stopping) {
      try {
        const { moved, more } = await turn();
        if (troubled && shards.all().every((shard) => shard.isDue())) {
          troubled = false;
          deps.log.info({}, 'the ledger is writable again');
        }
        idleMs = moved > 0 ? IDLE_MS_MIN : Math.min(IDLE_MS_MAX, idleMs * 1.5);
        // Waits under low load as well, so that records are written together.
        if (!more && !stopping) await pause(idleMs);
      } catch (error) {
        trouble(error);
        if (!stopping) await pause(FAILURE_MS);
      }
    }
    await finish().catch(trouble);
    // A consumer that does not leave stays in the list of its group forever.
    await Promise.allSettled(shards.all().map(({ group }) => group.leave()));
  }

  const retention = startRetention({ ...deps, ledgerDays: deps.retentionDays ?? RETENTION_DAYS });
  const finished = run();
  return {
    running: () => !stopping,
    counts: () => ({ ...counts }),
    async stop() {
      stopping = true;
      wake?.();
      await Promise.all([finished, retention.stop()]);
    },
  };
}
