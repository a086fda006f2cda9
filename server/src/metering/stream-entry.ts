import { type ExpiredDraft, recordOfExpired } from '../domain/expired-draft.ts';
import type { RequestRecord } from '../domain/request-record.ts';

/** One terminal record. An entry has any number of records and expired drafts. */
export const RECORD_FIELD = 'r';
/** The draft of a request whose gateway died. The field after it is the index of its candidate. */
export const EXPIRED_FIELD = 'x';
export const CANDIDATE_FIELD = 'c';

/** Of records and drafts; one that says no version has this. What a later version wrote is set aside, not guessed at. */
const VERSION = 1;

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export interface StreamEntry {
  /** `<milliseconds>-<serial>`, by the clock of Redis. */
  readonly id: string;
  /** Alternating names and values. Empty when the entry was deleted after it was taken. */
  readonly fields: readonly string[];
}

/** The records of an entry. One that cannot be read does not affect the others. */
export interface ReadEntry {
  readonly records: readonly { readonly record: RequestRecord; readonly place: number }[];
  readonly unreadable: readonly { readonly error: unknown; readonly place: number }[];
}

/** How many records an entry has, at most: a draft and its candidate count as two. */
export function recordsMaxOf({ fields }: StreamEntry): number {
  return fields.length / 2;
}

/** When an entry was appended. The clock of Redis may be ahead, or may have been: ids of a stream never go back. */
export function appendedMs({ id }: StreamEntry, nowMs: number): number {
  return Math.min(nowMs, Number.parseInt(id, 10));
}

/** Both lists are empty for a deleted entry. `nowMs`: the time of the ledger. */
export function readEntry(entry: StreamEntry, nowMs: number): ReadEntry {
  const { fields } = entry;
  const endedMs = appendedMs(entry, nowMs);
  const records: { record: RequestRecord; place: number }[] = [];
  const unreadable: { error: unknown; place: number }[] = [];
  for (let place = 0; 2 * place + 1 < fields.length; place += 1) {
    const [name, value = ''] = [fields[2 * place], fields[2 * place + 1]];
    try {
      if (name === RECORD_FIELD) records.push({ record: known(JSON.parse(value) as RequestRecord), place });
      else if (name === EXPIRED_FIELD) records.push({ record: expired(fields, place, endedMs), place });
      else if (name !== CANDIDATE_FIELD) throw new TypeError('a field of another version');
    } catch (error) {
      unreadable.push({ error, place });
    }
  }
  const nothing = fields.length > 0 && records.length + unreadable.length === 0;
  if (nothing) unreadable.push({ error: new TypeError('an entry has no record'), place: 0 });
  return { records, unreadable };
}

/** The fields of one record; all of them where the entry has none. */
export function fieldsAt({ fields }: StreamEntry, place: number): readonly string[] {
  const [from, name] = [2 * place, fields[2 * place]];
  if (name === RECORD_FIELD) return fields.slice(from, from + 2);
  return name === EXPIRED_FIELD ? fields.slice(from, from + 4) : fields;
}

function expired(fields: readonly string[], place: number, endedMs: number): RequestRecord {
  const draft = known(JSON.parse(fields[2 * place + 1] ?? '') as ExpiredDraft);
  if (!Array.isArray(draft.candidates)) throw new TypeError('a draft has no candidates');
  const [name, value] = fields.slice(2 * place + 2, 2 * place + 4);
  const candidate = name === CANDIDATE_FIELD ? Number(value) : Number.NaN;
  return recordOfExpired(draft, candidate, endedMs);
}

/** Checks the version, and the request id, which selects the partition. PostgreSQL checks the rest. */
function known<T extends { readonly requestId: string; readonly v?: number } | null>(
  value: T,
): NonNullable<T> {
  if ((value?.v ?? VERSION) !== VERSION) throw new TypeError('a record of another version');
  if (value === null || typeof value !== 'object' || !UUID_V7.test(String(value.requestId)))
    throw new TypeError('a record has no request ID');
  return value;
}
