import type { Kysely } from 'kysely';
import { isExpiredEstimate } from '../../domain/expired-draft.ts';
import { nextOutboxEntry, type OutboxEntry } from '../../store/ledger/sinks/outbox.ts';
import { commitPortion, readOutcomes, settlePortion } from '../../store/ledger/sinks/portions.ts';
import { readSinkRows, type SinkRow } from '../../store/ledger/sinks/read-rows.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { LedgerSink, SinkPortion } from './ledger-sink.ts';
import { versionId } from './usage-line.ts';

const ROWS_PER_READ = 500;

export interface PortionDeps {
  readonly db: Kysely<Database>;
  readonly sink: LedgerSink;
}

export interface WrittenPortion {
  readonly rows: number;
  /** The portion was full before the outbox was empty. */
  readonly hasMore: boolean;
}

/**
 * Writes the rows of the oldest entries as one portion: seal, commit, publish. No transaction is open while the sink writes, so a
 * slow sink holds no lock. After an error the portion stays unfinished, and `finishPortions` decides it.
 */
export async function writePortion({ db, sink }: PortionDeps): Promise<WrittenPortion> {
  const portion = await sink.begin((id) => settlePortion(db, sink.name, id));
  let filled: Filled;
  try {
    filled = await fill(db, sink.name, portion);
    await portion.seal();
  } finally {
    await portion.close();
  }
  const { entryIds, rows } = filled;
  if (entryIds.length > 0) await commitPortion(db, sink.name, portion.id, entryIds);
  if (rows > 0) await sink.publish(portion.id);
  else await sink.discard(portion.id);
  return { rows, hasMore: portion.isFull() };
}

/** Publishes the committed portions that a kill or an error left behind, and discards the abandoned ones. */
export async function finishPortions({ db, sink }: PortionDeps): Promise<void> {
  const unfinished = await sink.unfinished();
  if (unfinished.length === 0) return;
  const outcomes = await readOutcomes(
    db,
    sink.name,
    unfinished.map(({ id }) => id),
  );
  for (const { id, isAbandoned } of unfinished) {
    const outcome = outcomes.get(id) ?? (isAbandoned ? await settlePortion(db, sink.name, id) : null);
    if (outcome === 'committed') await sink.publish(id);
    if (outcome === 'discarded') await sink.discard(id);
  }
}

interface Filled {
  readonly entryIds: readonly string[];
  readonly rows: number;
}

async function fill(db: Kysely<Database>, sink: string, portion: SinkPortion): Promise<Filled> {
  const entryIds: string[] = [];
  let rows = 0;
  let entry: OutboxEntry | null = null;
  while (!portion.isFull()) {
    entry = await nextOutboxEntry(db, sink, entry);
    if (entry === null) break;
    for (let from = 0; from < entry.requestIds.length; from += ROWS_PER_READ) {
      const found = await readSinkRows(db, entry.requestIds.slice(from, from + ROWS_PER_READ));
      const own = found.filter((row) => belongsTo(entry, row));
      rows += own.length;
      if (own.length > 0) await portion.add(own);
    }
    portion.endEntry?.(versionsIn(entry));
    entryIds.push(entry.id);
  }
  return { entryIds, rows };
}

function versionsIn({ requestIds, estimateIds }: OutboxEntry): string[] {
  return requestIds.map((id) => versionId(id, estimateIds.has(id)));
}

/**
 * False for an estimate that has been replaced: the transaction that replaced it has its own outbox entry.
 */
function belongsTo(entry: OutboxEntry | null, row: SinkRow): boolean {
  const wasEstimate = entry?.estimateIds.has(row.request_id) ?? false;
  return !wasEstimate || isExpiredEstimate(row.error_code, row.usage_source);
}
