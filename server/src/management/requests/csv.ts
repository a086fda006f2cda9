import { RequestLogEntry } from '@relay/contract';
import { csvRecord } from '@relay/contract/client';
import { countWords } from '@relay/contract/words';
import { toRequestLogEntry } from '../../store/ledger/log/log-entry.ts';
import type { EntryRow } from '../../store/ledger/log/read-log.ts';
import type { Walk } from '../../store/ledger/log/walk-log.ts';

const EXPORTED_ROWS_MAX = 1_000_000;
const BATCH_ROWS = 1_000;

type Column = keyof RequestLogEntry;
const COLUMNS = Object.keys(RequestLogEntry.properties) as Column[];

/**
 * The log as CSV (RFC 4180), read from the ledger at the speed of the client. A truncated export ends with a
 * record that says so and has the id to continue with, so that it cannot pass for a complete one.
 */
export async function* csvOf(
  walk: Walk,
  ended: AbortSignal,
  rowsMax: number = EXPORTED_ROWS_MAX,
): AsyncGenerator<string> {
  let written = 0;
  let lastId = '';
  // The header is sent with the first rows: if the ledger cannot be read, the client gets an error instead of
  // an empty file.
  let head = csvRecord(COLUMNS);
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
  return csvRecord(
    COLUMNS.map((column) => (column === 'labels' ? JSON.stringify(entry.labels) : entry[column])),
  );
}

function cutRecord(rowsMax: number, lastId: string): string {
  const words = `truncated after ${countWords(rowsMax)} rows; continue with before=${lastId}`;
  return csvRecord([words, ...COLUMNS.slice(1).map(() => null)]);
}
