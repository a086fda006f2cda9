import type { Kysely } from 'kysely';
import type { RequestRecord } from '../domain/request-record.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { appendRequests } from '../store/append-requests.ts';
import { dayOfRequestId, ensureLedgerPartitions, utcDayOf } from '../store/ledger-partitions.ts';
import type { Redis } from '../store/redis.ts';
import type { Database } from '../store/schema.ts';
import { ledgerRow } from './ledger-row.ts';
import { acknowledge, claimAbandoned, ensureGroup, readNew, type StreamEntry } from './stream-group.ts';

export interface LedgerWorkerDeps {
  readonly redis: Redis;
  readonly db: Kysely<Database>;
  readonly clock: Clock;
  readonly log: Log;
  /** Unique per process: entries that a dead process had taken are claimed by the living. */
  readonly consumer: string;
}

const IDLE_MS = 50;
const FAILURE_MS = 1_000;
const CLAIM_EVERY_MS = 10_000;
const PARTITION_DAYS_AHEAD = 7;
const DAY_MS = 86_400_000;

/**
 * Moves records from the usage stream into the ledger. An entry is acknowledged only after its rows are
 * committed, and a row is inserted once by its request id, so a worker may die at any moment and another
 * may do its work again.
 */
export function startLedgerWorker(deps: LedgerWorkerDeps): { stop(): Promise<void>; running(): boolean } {
  let stopping = false;
  let wake: (() => void) | null = null;
  let claimedAtMs = 0;
  let partitionedDay = '';

  function pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, delayMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function turn(): Promise<number> {
    const today = utcDayOf(deps.clock.nowMs());
    if (today !== partitionedDay) {
      await ensureGroup(deps.redis);
      await ensureLedgerPartitions(
        deps.db,
        today,
        utcDayOf(deps.clock.nowMs() + PARTITION_DAYS_AHEAD * DAY_MS),
      );
      partitionedDay = today;
    }
    const entries = await readNew(deps.redis, deps.consumer);
    if (deps.clock.monotonicMs() - claimedAtMs > CLAIM_EVERY_MS) {
      claimedAtMs = deps.clock.monotonicMs();
      entries.push(...(await claimAbandoned(deps.redis, deps.consumer)));
    }
    await store(deps, entries);
    return entries.length;
  }

  async function run(): Promise<void> {
    while (!stopping) {
      try {
        const moved = await turn();
        if (moved === 0 && !stopping) await pause(IDLE_MS);
      } catch (error) {
        deps.log.warn({ err: error }, 'the ledger cannot be written; records stay in the stream');
        // A Redis that came back empty has lost the group with everything else.
        partitionedDay = '';
        if (!stopping) await pause(FAILURE_MS);
      }
    }
  }

  const finished = run();
  return {
    running: () => !stopping,
    async stop() {
      stopping = true;
      wake?.();
      await finished;
    },
  };
}

async function store(deps: LedgerWorkerDeps, entries: readonly StreamEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const records = entries.flatMap(({ records: texts }) =>
    texts.map((text) => JSON.parse(text) as RequestRecord),
  );
  const rows = records.map((record) => ledgerRow(record, deps.clock.nowMs()));
  // An entry may have waited past the days that are made ahead.
  const days = [...new Set(records.map(({ requestId }) => dayOfRequestId(requestId)))].sort();
  const [first] = days;
  const last = days.at(-1);
  if (first !== undefined && last !== undefined && first < utcDayOf(deps.clock.nowMs())) {
    await ensureLedgerPartitions(deps.db, first, last);
  }
  await appendRequests(deps.db, rows);
  await acknowledge(deps.redis, entries);
}
