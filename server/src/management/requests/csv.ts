import { RequestLogEntry } from '@relay/contract';
import { toRequestLogEntry } from '../../store/ledger/log/log-entry.ts';
import type { EntryRow } from '../../store/ledger/log/read-log.ts';
import type { Walk } from '../../store/ledger/log/walk-log.ts';

const EXPORTED_ROWS_MAX = 1_000_000;
const BATCH_ROWS = 1_000;

type Column = keyof RequestLogEntry;
const COLUMNS = Object.keys(RequestLogEntry.properties) as Column[];

/** What spreadsheets take for the beginning of a formula. */
const FORMULA = /^[=+\-@\t\r\n]/;
const NEEDS_QUOTES = /[",\r\n]/;

/**
 * The log as CSV (RFC 4180), read from the ledger as fast as it is sent and no faster. Where there are more rows than fit, the
 * last record says so in its first field, with the id to go on with: a file that was cut must not pass for a whole one.
 */
export async function* csvOf(
  walk: Walk,
  ended: AbortSignal,
  rowsMax: number = EXPORTED_ROWS_MAX,
): AsyncGenerator<string> {
  let written = 0;
  let lastId = '';
  // The head goes out with the first rows, so that a ledger which cannot be read is still an error and not an empty file.
  let head = recordOf(COLUMNS);
  while (!ended.aborted) {
    const step = await walk.next(Math.min(BATCH_ROWS, rowsMax + 1 - written));
    const rows = step?.rows.slice(0, rowsMax - written) ?? [];
    const cut = step !== undefined && rows.length < step.rows.length;
    written += rows.length;
    lastId = rows.at(-1)?.request_id ?? lastId;
    const text = head + rows.map(lineOf).join('') + (cut ? cutRecord(rowsMax, lastId) : '');
    head = '';
    if (text !== '') yield text;
    if (cut || step === undefined || step.belowId === null) return;
  }
}

function lineOf(row: EntryRow): string {
  const entry = toRequestLogEntry(row);
  return recordOf(COLUMNS.map((column) => entry[column]));
}

function cutRecord(rowsMax: number, lastId: string): string {
  const words = `truncated after ${rowsMax} rows; continue with before=${lastId}`;
  return recordOf([words, ...COLUMNS.slice(1).map(() => null)]);
}

export function recordOf(values: readonly (string | number | boolean | null)[]): string {
  return `${values.map(fieldOf).join(',')}\r\n`;
}

/** Text that a client chose must stay text wherever the file is opened. */
function fieldOf(value: string | number | boolean | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
