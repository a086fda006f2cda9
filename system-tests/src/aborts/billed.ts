import type { RequestLogEntry } from '@relay/provider-sim';

/** The ledger row of an aborted request. */
export interface BilledRow {
  readonly tag: string;
  readonly state: string;
  readonly usageSource: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costMicros: number;
}

export interface Verdict {
  readonly zeroBilled: readonly string[];
  readonly overBilled: readonly string[];
  readonly missing: readonly string[];
}

/** Compares the billed usage with the provider's counts. */
export function judgeBilling(
  tags: readonly string[],
  rows: readonly BilledRow[],
  entries: readonly RequestLogEntry[],
): Verdict {
  const rowOf = new Map(rows.map((row) => [row.tag, row]));
  const entryOf = new Map(entries.map((entry) => [entry.fault?.tag ?? '', entry]));
  const [zeroBilled, overBilled, missing]: [string[], string[], string[]] = [[], [], []];
  for (const tag of tags) {
    const [row, entry] = [rowOf.get(tag), entryOf.get(tag)];
    if (row === undefined || entry === undefined) {
      missing.push(`${tag}: ${row === undefined ? 'no row' : 'unknown to the provider'}`);
      continue;
    }
    const billed = `${tag}: billed ${row.inputTokens} + ${row.outputTokens} (${row.usageSource}, ${row.state})`;
    const counted = `counted ${entry.promptTokens} + ${entry.completionTokens} (${entry.outcome})`;
    // The client received text, so input and output are both above zero.
    if (row.inputTokens === 0 || row.outputTokens === 0 || row.costMicros === 0)
      zeroBilled.push(`${billed}, ${counted}`);
    if (isOver(row, entry)) overBilled.push(`${billed}, ${counted}`);
  }
  return { zeroBilled, overBilled, missing };
}

/** Output never exceeds what the provider wrote. Input is an estimate whose error is below the input itself. */
function isOver(row: BilledRow, entry: RequestLogEntry): boolean {
  const { promptTokens, completionTokens } = entry;
  return row.outputTokens > completionTokens || row.inputTokens > 2 * promptTokens;
}
