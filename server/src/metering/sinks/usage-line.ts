import { isExpiredEstimate } from '../../domain/expired-draft.ts';
import { toRequestLogEntry } from '../../store/ledger/log/log-entry.ts';
import type { SinkRow } from '../../store/ledger/sinks/read-rows.ts';

/** A row as JSON on one line: the entry of the request log, with its organization, credential and time of settlement. */
export function usageLine(row: SinkRow): string {
  return JSON.stringify({
    organization_id: row.organization_id,
    ...toRequestLogEntry(row),
    credential_id: row.credential_id,
    settled_at: row.settled_at.toISOString(),
  });
}

/**
 * Names a version of a row: the ledger replaces the estimate of a lost gateway once, and sinks may get both. The word never changes, because
 * readers tell duplicates by it.
 */
export function versionId(requestId: string, isEstimate: boolean): string {
  return isEstimate ? `${requestId}.estimate` : requestId;
}

export function versionIdOf({ request_id, error_code, usage_source }: SinkRow): string {
  return versionId(request_id, isExpiredEstimate(error_code, usage_source));
}
