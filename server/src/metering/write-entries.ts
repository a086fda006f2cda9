import type { Kysely } from 'kysely';
import { isExpiredEstimate } from '../domain/expired-draft.ts';
import type { RequestRecord } from '../domain/request-record.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import type { Sealer } from '../kit/seal.ts';
import { uuidTimeMs } from '../kit/uuid-time.ts';
import { ensureLedgerPartitions, utcDayOf } from '../store/ledger/ledger-partitions.ts';
import type { LedgerRow } from '../store/ledger/ledger-row.ts';
import { idOrNull, notePoisonedUsage, type PoisonedUsage } from '../store/ledger/poisoned-usage.ts';
import type { Database } from '../store/postgres/schema.ts';
import { ledgerRow } from './ledger-row.ts';
import type { Ledger } from './sinks/ledger-sink.ts';
import { appendedMs, fieldsAt, readEntry, type StreamEntry } from './stream-entry.ts';
import type { StreamGroup } from './stream-group.ts';

const DAY_MS = 86_400_000;
/** No gateway writes a record outside this range, and such a record must not create partitions. */
export const DAYS_LATE_MAX = 90;
const DAYS_EARLY_MAX = 1;

/** The source of entries, which the note of an unusable record names. */
export interface EntrySource {
  readonly stream: string;
}

export interface TakenEntry<Source extends EntrySource = EntrySource> {
  readonly group: Source;
  readonly entry: StreamEntry;
}

/** The deployment whose ledger it is. */
export interface LedgerOwner {
  readonly deploymentId: string;
  /** Rejects while the source of entries belongs to another deployment: it takes its own entries again. */
  readonly demandOwnSource: () => Promise<void>;
}

export interface WriteDeps {
  readonly ledger: Ledger;
  /** Without it, records of every deployment are taken. */
  readonly owner?: LedgerOwner | undefined;
  /** For partitions, and for notes of records that cannot be written. */
  readonly db: Kysely<Database>;
  /** Keeps the time of PostgreSQL. */
  readonly clock: Clock;
  /** What a refused record said is kept sealed. */
  readonly sealer: Pick<Sealer, 'seal' | 'keyId'>;
  readonly log: Log;
}

export interface Written {
  readonly rows: number;
  /** Records or entries that cannot become a row. They are logged, kept for a replay, and acknowledged. */
  readonly poisoned: number;
}

/** Entries, and the rows made of them. */
export interface ReadyEntries<Source extends EntrySource = EntrySource> {
  readonly taken: readonly TakenEntry<Source>[];
  /** By request id. */
  readonly rows: ReadonlyMap<string, PlacedRow>;
  readonly unusable: readonly PoisonedUsage[];
  /** Some of the unusable ones are of another deployment. */
  readonly hasForeign: boolean;
}

/** A row and the position of its record. */
interface PlacedRow {
  readonly row: LedgerRow;
  readonly from: TakenEntry;
  readonly place: number;
}

/** Reads entries and makes their rows, without I/O. `nowMs`: the time of the ledger. */
export function readyEntries<Source extends EntrySource>(
  taken: readonly TakenEntry<Source>[],
  nowMs: number,
  owner?: Pick<LedgerOwner, 'deploymentId'>,
): ReadyEntries<Source> {
  let hasForeign = false;
  const rows = new Map<string, PlacedRow>();
  const unusable: PoisonedUsage[] = [];
  for (const from of taken) {
    const { records, unreadable } = readEntry(from.entry, nowMs);
    for (const { error, place } of unreadable)
      unusable.push(note(from, place, `unreadable: ${reasonOf(error)}`, nowMs));
    for (const { record, place } of records) {
      const put = (reason: string) => unusable.push(note(from, place, reason, nowMs, record));
      if (isForeign(record, owner)) {
        put(`it belongs to deployment ${record.deploymentId}`);
        hasForeign = true;
        continue;
      }
      if (!isTimely(record, from.entry, nowMs)) {
        put('its request ID has an implausible time');
        continue;
      }
      try {
        const row = ledgerRow(record, nowMs);
        const known = rows.get(record.requestId)?.row;
        // The record of a gateway that was considered dead replaces the estimate.
        if (known === undefined || isExpiredEstimate(known.error_code, known.usage_source))
          rows.set(record.requestId, { row, from, place });
      } catch (error) {
        put(`unreadable: ${reasonOf(error)}`);
      }
    }
  }
  return { taken, rows, unusable, hasForeign };
}

/**
 * Writes the rows of these entries. Sets aside records that cannot be read or that PostgreSQL refuses for their content, since
 * they would block the stream forever. Throws when PostgreSQL cannot answer; the entries must then not be acknowledged.
 */
export async function writeEntries(deps: WriteDeps, ready: ReadyEntries): Promise<Written> {
  const { rows, unusable, hasForeign } = ready;
  if (hasForeign) await deps.owner?.demandOwnSource();
  const nowMs = deps.clock.nowMs();
  await ensureDays(deps, [...rows.keys()], nowMs);
  const outcome = await deps.ledger.write([...rows.values()].map(({ row }) => row));
  const poisoned = [...unusable];
  for (const [requestId, error] of outcome.refused) {
    const placed = rows.get(requestId);
    if (placed === undefined) continue;
    const { row, from, place } = placed;
    const record = { requestId, organizationId: row.organization_id };
    poisoned.push(note(from, place, `rejected: ${reasonOf(error)}`, nowMs, record));
  }
  await putAside(deps, poisoned);
  return { rows: outcome.rows, poisoned: poisoned.length };
}

function note(
  { group, entry }: TakenEntry,
  place: number,
  reason: string,
  nowMs: number,
  record?: { readonly requestId: unknown; readonly organizationId: unknown },
): PoisonedUsage {
  return {
    stream: group.stream,
    entry_id: entry.id,
    place,
    organization_id: idOrNull(record?.organizationId),
    request_id: idOrNull(record?.requestId),
    reason,
    found_at: new Date(nowMs),
    payload: JSON.stringify(fieldsAt(entry, place)),
  };
}

async function putAside({ db, sealer, log }: WriteDeps, poisoned: readonly PoisonedUsage[]): Promise<void> {
  await notePoisonedUsage(db, sealer, poisoned);
  for (const { stream, entry_id, request_id, reason } of poisoned)
    log.error(
      { reason, stream, entry: entry_id, request_id },
      'the ledger rejected a usage record; kept it for `relay usage replay`',
    );
}

/** Creates the partitions of past days. The worker creates those of today and the next days. */
async function ensureDays(deps: WriteDeps, requestIds: readonly string[], nowMs: number): Promise<void> {
  const today = dayNumber(nowMs);
  const days = new Set(requestIds.map((requestId) => dayNumber(uuidTimeMs(requestId))));
  for (const number of days) {
    const day = utcDayOf(number * DAY_MS);
    if (number < today) await ensureLedgerPartitions(deps.db, day, day);
  }
}

export async function acknowledgeEntries(taken: readonly TakenEntry<StreamGroup>[]): Promise<void> {
  const groups = new Map<StreamGroup, StreamEntry[]>();
  for (const { group, entry } of taken) {
    const entries = groups.get(group);
    if (entries === undefined) groups.set(group, [entry]);
    else entries.push(entry);
  }
  await Promise.all([...groups].map(([group, entries]) => group.acknowledge(entries)));
}

/** A record of an earlier version does not say which deployment it is of. */
export function isForeign(
  { deploymentId }: RequestRecord,
  owner: Pick<LedgerOwner, 'deploymentId'> | undefined,
): boolean {
  return deploymentId !== undefined && owner !== undefined && deploymentId !== owner.deploymentId;
}

/** How late it is, its entry tells: an entry may wait in its stream for as long as there is no worker. */
export function isTimely({ requestId }: RequestRecord, entry: StreamEntry, nowMs: number): boolean {
  const day = dayNumber(uuidTimeMs(requestId));
  return (
    dayNumber(appendedMs(entry, nowMs)) - day <= DAYS_LATE_MAX && day - dayNumber(nowMs) <= DAYS_EARLY_MAX
  );
}

function dayNumber(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS);
}

/** Messages of parsers and of PostgreSQL quote the refused value, which must not be logged. Names of constraints may be. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const details = ['code', 'constraint', 'column'].map((name): unknown => Reflect.get(error, name));
  return [error.name, ...details.filter((detail) => typeof detail === 'string')].join(' ');
}
