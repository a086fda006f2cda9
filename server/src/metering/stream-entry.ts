import { type ExpiredDraft, recordOfExpired } from '../domain/expired-draft.ts';
import type { RequestRecord } from '../domain/request-record.ts';

/** One terminal record; an entry may have several. */
export const RECORD_FIELD = 'r';
/** The draft of a request whose gateway died, with the index of its candidate. */
export const EXPIRED_FIELD = 'x';
export const CANDIDATE_FIELD = 'c';

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

/** Both lists are empty for a deleted entry. */
export function readEntry({ id, fields }: StreamEntry): ReadEntry {
  const records: { record: RequestRecord; place: number }[] = [];
  const unreadable: { error: unknown; place: number }[] = [];
  for (let place = 0; 2 * place + 1 < fields.length; place += 1) {
    const [name, value = ''] = fields.slice(2 * place, 2 * place + 2);
    try {
      if (name === RECORD_FIELD) records.push({ record: known(JSON.parse(value) as RequestRecord), place });
      if (name === EXPIRED_FIELD) records.push({ record: expired(id, fields, place), place });
    } catch (error) {
      unreadable.push({ error, place });
    }
  }
  const nothing = fields.length > 0 && records.length + unreadable.length === 0;
  if (nothing) unreadable.push({ error: new TypeError('an entry has no record'), place: 0 });
  return { records, unreadable };
}

function expired(entryId: string, fields: readonly string[], place: number): RequestRecord {
  const draft = known(JSON.parse(fields[2 * place + 1] ?? '') as ExpiredDraft);
  if (!Array.isArray(draft.candidates)) throw new TypeError('a draft has no candidates');
  const candidate = Number(fields[fields.indexOf(CANDIDATE_FIELD, 2 * place) + 1]);
  return recordOfExpired(draft, candidate, Number.parseInt(entryId, 10));
}

/** Checks the request id, which selects the partition. PostgreSQL checks the rest. */
function known<T extends { readonly requestId: string } | null>(value: T): NonNullable<T> {
  if (value === null || typeof value !== 'object' || !UUID_V7.test(String(value.requestId)))
    throw new TypeError('a record has no request id');
  return value;
}
