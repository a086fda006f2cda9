import type { Kysely } from 'kysely';
import { RelayError } from '../domain/relay-error.ts';
import type { RequestRecord } from '../domain/request-record.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { appendRequests } from '../store/append-requests.ts';
import { dayOfRequestId, ensureLedgerPartitions, utcDayOf } from '../store/ledger-partitions.ts';
import type { Database } from '../store/schema.ts';
import { ledgerRow } from './ledger-row.ts';
import { recordsOf, type StreamEntry } from './stream-entry.ts';
import type { StreamGroup } from './stream-group.ts';

const DAY_MS = 86_400_000;
/** A record that claims another age than this was not made by a gateway, and must not make partitions. */
const DAYS_LATE_MAX = 90;
const DAYS_EARLY_MAX = 1;

export interface TakenEntry {
  readonly group: StreamGroup;
  readonly entry: StreamEntry;
}

export interface WriteDeps {
  readonly db: Kysely<Database>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Written {
  readonly rows: number;
  /** Records or entries that can never become a row. They are said in the log and leave the stream. */
  readonly poisoned: number;
}

/**
 * Writes the rows of these entries. What cannot be read, or is refused by PostgreSQL for what it is, would stay in the
 * way for ever, so it is put aside. Throws when PostgreSQL cannot answer; the entries must then not be acknowledged.
 */
export async function writeEntries(deps: WriteDeps, taken: readonly TakenEntry[]): Promise<Written> {
  let poisoned = 0;
  const poison = (error: unknown, fields: object) => {
    poisoned += 1;
    deps.log.error(
      { reason: reasonOf(error), ...fields },
      'a usage record cannot be written and is left out',
    );
  };
  const records = new Map<string, RequestRecord>();
  for (const { entry } of taken) {
    try {
      for (const record of recordsOf(entry)) {
        if (!isTimely(record, deps.clock.nowMs())) throw new RangeError('a request id is of another time');
        // A gateway that was taken for dead and came back knows better than the estimate.
        if (records.get(record.requestId)?.cause !== 'gateway_lost' && records.has(record.requestId))
          continue;
        records.set(record.requestId, record);
      }
    } catch (error) {
      poison(error, { entry: entry.id });
    }
  }
  const rows = await write(deps, [...records.values()], poison);
  return { rows, poisoned };
}

async function write(
  deps: WriteDeps,
  records: readonly RequestRecord[],
  poison: (error: unknown, fields: object) => void,
): Promise<number> {
  if (records.length === 0) return 0;
  // The days ahead are made by the worker; an entry may have waited since a day that has no partition.
  const today = utcDayOf(deps.clock.nowMs());
  const days = new Set(records.map(({ requestId }) => dayOfRequestId(requestId)));
  for (const day of days) if (day < today) await ensureLedgerPartitions(deps.db, day, day);
  const settledAtMs = deps.clock.nowMs();
  try {
    return (
      await appendRequests(
        deps.db,
        records.map((record) => ledgerRow(record, settledAtMs)),
      )
    ).length;
  } catch (error) {
    if (isUnavailable(error)) throw error;
  }
  // One of them is not acceptable, and the others must not suffer for it.
  let written = 0;
  for (const record of records) {
    try {
      written += (await appendRequests(deps.db, [ledgerRow(record, settledAtMs)])).length;
    } catch (error) {
      if (isUnavailable(error)) throw error;
      poison(error, { request_id: record.requestId });
    }
  }
  return written;
}

export async function acknowledgeEntries(taken: readonly TakenEntry[]): Promise<void> {
  const groups = new Map<StreamGroup, StreamEntry[]>();
  for (const { group, entry } of taken) groups.set(group, [...(groups.get(group) ?? []), entry]);
  for (const [group, entries] of groups) await group.acknowledge(entries);
}

function isTimely({ requestId }: RequestRecord, nowMs: number): boolean {
  const day = dayOfRequestId(requestId);
  return day >= utcDayOf(nowMs - DAYS_LATE_MAX * DAY_MS) && day <= utcDayOf(nowMs + DAYS_EARLY_MAX * DAY_MS);
}

/** Messages of parsers and of PostgreSQL quote what they refuse, which has no place in a log. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error ? `${error.name} ${String(error.code)}` : error.name;
}

function isUnavailable(error: unknown): boolean {
  return error instanceof RelayError && error.code === 'store_unavailable';
}
