import { csvRecord } from '@relay/contract/client';

/** Rows as CSV. */
export function csvText(rows: readonly (readonly (string | number | null)[])[]): string {
  return rows.map(csvRecord).join('');
}
