import { isExpiredEstimate } from '../../domain/expired-draft.ts';
import { toRequestLogEntry } from '../../store/ledger/log/log-entry.ts';
import type { TailRow } from '../../store/ledger/log/read-tail.ts';

/** Clients reconnect after this delay. */
const RETRY_MS = 1_000;

/**
 * The tail as server-sent events. The event id is the request id; comments keep proxies from closing an idle
 * connection.
 */
export async function* eventsOf(batches: AsyncIterable<readonly TailRow[]>): AsyncGenerator<string> {
  yield `retry: ${RETRY_MS}\n\n`;
  for await (const rows of batches) yield rows.length === 0 ? ': still here\n\n' : rows.map(eventOf).join('');
}

/**
 * A request settled at its estimate may be recorded again at another position when its gateway turns out to be
 * alive. Its event has no ID, so that clients do not resume from it.
 */
function eventOf(row: TailRow): string {
  const id = isExpiredEstimate(row.error_code, row.usage_source) ? '' : `id: ${row.request_id}\n`;
  return `${id}data: ${JSON.stringify(toRequestLogEntry(row))}\n\n`;
}
