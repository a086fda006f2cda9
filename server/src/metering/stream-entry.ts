import { type ExpiredDraft, recordOfExpired } from '../domain/expired-draft.ts';
import type { RequestRecord } from '../domain/request-record.ts';

/** One terminal record; an entry may have several. */
export const RECORD_FIELD = 'r';
/** The draft of a request whose gateway died, with the place of its candidate. */
const EXPIRED_FIELD = 'x';
const CANDIDATE_FIELD = 'c';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export interface StreamEntry {
  /** `<milliseconds>-<serial>`, by the clock of Redis. */
  readonly id: string;
  /** Name and value in turn; empty when the entry was deleted after it had been taken. */
  readonly fields: readonly string[];
}

/** None for an entry that was deleted. Throws when it is not an entry as gateways and scripts write them. */
export function recordsOf(entry: StreamEntry): RequestRecord[] {
  const { fields } = entry;
  if (fields.length === 0) return [];
  const records: RequestRecord[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const value = fields[index + 1] ?? '';
    if (fields[index] === RECORD_FIELD) records.push(known(JSON.parse(value) as RequestRecord));
    if (fields[index] === EXPIRED_FIELD) {
      const draft = known(JSON.parse(value) as ExpiredDraft);
      if (!Array.isArray(draft.candidates)) throw new TypeError('a draft has no candidates');
      const candidate = Number(fields[fields.indexOf(CANDIDATE_FIELD, index) + 1]);
      records.push(recordOfExpired(draft, candidate, Number.parseInt(entry.id, 10)));
    }
  }
  if (records.length === 0) throw new TypeError('an entry has no record');
  return records;
}

/** The id decides where the row goes, so it has to be right; PostgreSQL judges the rest. */
function known<T extends { readonly requestId: string } | null>(value: T): NonNullable<T> {
  if (value === null || typeof value !== 'object' || !UUID_V7.test(String(value.requestId)))
    throw new TypeError('a record has no request id');
  return value;
}
