import { toRequestLogEntry } from '../../../store/ledger/log/log-entry.ts';
import type { SinkRow } from '../../../store/ledger/sinks/read-rows.ts';

/** A row as one line of JSON: the entry of the request log, with its organization, credential and time of settlement. */
export function usageLine(row: SinkRow): string {
  const line = {
    organization_id: row.organization_id,
    ...toRequestLogEntry(row),
    credential_id: row.credential_id,
    settled_at: row.settled_at.toISOString(),
  };
  return `${JSON.stringify(line)}\n`;
}
