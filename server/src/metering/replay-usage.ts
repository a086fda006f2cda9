import type { Kysely } from 'kysely';
import type { Clock } from '../kit/clock.ts';
import type { Sealer } from '../kit/seal.ts';
import { movedUuid, uuidTimeMs } from '../kit/uuid-time.ts';
import { appendRequests, knownRequests } from '../store/ledger/append-requests.ts';
import { ensureLedgerPartitions, utcDayOf } from '../store/ledger/ledger-partitions.ts';
import type { LedgerRow } from '../store/ledger/ledger-row.ts';
import {
  type KeptUsage,
  lockKeptUsage,
  noteReplayed,
  type RecordPlace,
  replayedBefore,
} from '../store/ledger/poisoned-usage.ts';
import type { Database } from '../store/postgres/schema.ts';
import { ledgerRow } from './ledger-row.ts';
import { isFaultOfRow } from './sinks/postgres-ledger.ts';
import { appendedMs, readEntry } from './stream-entry.ts';
import { DAYS_LATE_MAX, isForeign, isTimely, type LedgerOwner } from './write-entries.ts';

const RECORDS_AT_ONCE = 200;
const DAYS_LATE_MAX_MS = DAYS_LATE_MAX * 86_400_000;

export interface ReplayDeps {
  readonly db: Kysely<Database>;
  readonly sealer: Pick<Sealer, 'open'>;
  /** Keeps the time of PostgreSQL. */
  readonly clock: Clock;
  /** Names of the sinks that follow the ledger. */
  readonly sinks: readonly string[];
  /** The deployment whose ledger it is; without it, records of every deployment are taken. */
  readonly owner?: Pick<LedgerOwner, 'deploymentId'>;
}

export interface Replayed {
  /** Requests that got their row. */
  readonly written: number;
  /** Requests that had it. */
  readonly present: number;
  /** Records that still cannot be written. They are kept. */
  readonly refused: number;
  /** Records that none of the configured master keys opens. They are kept. */
  readonly sealed: number;
}

interface Batch extends Replayed {
  /** Null at the end. */
  readonly last: RecordPlace | null;
}

/** Writes refused records to the ledger, each request once, however often and in however many processes it runs. */
export async function replayUsage(deps: ReplayDeps): Promise<Replayed> {
  const sums = { written: 0, present: 0, refused: 0, sealed: 0 };
  let after: RecordPlace | null = null;
  do {
    const batch: Batch = await replayAfter(deps, after);
    for (const name of Object.keys(sums) as (keyof Replayed)[]) sums[name] += batch[name];
    after = batch.last;
  } while (after !== null);
  return sums;
}

async function replayAfter(deps: ReplayDeps, after: RecordPlace | null): Promise<Batch> {
  for (const rowsMax of [RECORDS_AT_ONCE, 1]) {
    await ensureDays(deps, after, rowsMax);
    try {
      return await replayBatch(deps, after, rowsMax);
    } catch (error) {
      if (!isFaultOfRow(error)) throw error;
    }
  }
  // The next one is at fault by itself.
  const { last } = await lockKeptUsage(deps.db, deps.sealer, { after, rowsMax: 1 });
  return { written: 0, present: 0, refused: 1, sealed: 0, last };
}

function replayBatch(deps: ReplayDeps, after: RecordPlace | null, rowsMax: number): Promise<Batch> {
  return deps.db.transaction().execute(async (tx) => {
    const { kept, last, sealed } = await lockKeptUsage(tx, deps.sealer, { after, rowsMax });
    const ready = rowsOf(kept, deps);
    const asked = ready.flatMap(({ requestId }) => requestId);
    // One whose id was moved would be a second row.
    const done = new Set([...(await replayedBefore(tx, asked)), ...(await knownRequests(tx, asked))]);
    const rows = new Map<string, LedgerRow>();
    for (const { requestId, row, isMoved } of ready)
      if (!rows.has(requestId) && !(isMoved && done.has(requestId))) rows.set(requestId, row);
    const { length: written } = await appendRequests(tx, [...rows.values()], { sinks: deps.sinks });
    await noteReplayed(
      tx,
      ready.map(({ place }) => place),
    );
    return { written, present: ready.length - written, refused: kept.length - ready.length, sealed, last };
  });
}

async function ensureDays(deps: ReplayDeps, after: RecordPlace | null, rowsMax: number): Promise<void> {
  const { kept } = await lockKeptUsage(deps.db, deps.sealer, { after, rowsMax });
  const days = rowsOf(kept, deps).map(({ row }) => utcDayOf(uuidTimeMs(row.request_id)));
  for (const day of new Set(days)) await ensureLedgerPartitions(deps.db, day, day);
}

interface ReadyRow {
  readonly place: RecordPlace;
  /** As its client knows it. */
  readonly requestId: string;
  readonly row: LedgerRow;
  readonly isMoved: boolean;
}

/** Without those that still cannot be read. */
function rowsOf(kept: readonly KeptUsage[], { clock, owner }: ReplayDeps): ReadyRow[] {
  const nowMs = clock.nowMs();
  return kept.flatMap((note) => {
    try {
      return rowOf(note, nowMs, owner) ?? [];
    } catch {
      return [];
    }
  });
}

function rowOf(note: KeptUsage, nowMs: number, owner: ReplayDeps['owner']): ReadyRow | null {
  const entry = { id: note.entry_id, fields: JSON.parse(note.payload) as string[] };
  const record = readEntry(entry, nowMs).records[0]?.record;
  if (record === undefined || isForeign(record, owner)) return null;
  const { requestId } = record;
  if (isTimely(record, entry, nowMs))
    return { place: note, requestId, row: ledgerRow(record, nowMs), isMoved: false };
  // The clock of its gateway was wrong, so the id tells nothing of when it arrived.
  const foundMs = note.found_at.getTime();
  const entryMs = appendedMs(entry, foundMs);
  const moved = movedUuid(requestId, foundMs - entryMs <= DAYS_LATE_MAX_MS ? entryMs : foundMs);
  return { place: note, requestId, row: ledgerRow({ ...record, requestId: moved }, nowMs), isMoved: true };
}
