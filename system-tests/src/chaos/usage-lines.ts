import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LedgerView } from '../harness/ledger-view.ts';
import { until } from '../harness/until.ts';

/** A killed worker keeps its lease for 15 s. */
const WRITTEN_MS_MAX = 60_000;

/** What is compared of a row, in a file as in the ledger. */
export interface UsageRow {
  readonly request_id: string;
  readonly organization_id: string;
  readonly error_code: string | null;
  readonly usage_source: string;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cost_micros: number | null;
  readonly settled_at: string;
}

export interface FilesComparison extends LinesComparison {
  readonly files: number;
}

export interface LinesComparison {
  readonly lines: number;
  /** Rows of the ledger that no line has. */
  readonly lost: readonly string[];
  /** Rows that lines have twice. */
  readonly duplicated: readonly string[];
  /** Lines that are no row of the ledger, and no estimate that a record has replaced. */
  readonly wrong: readonly string[];
}

/** Waits until the workers have closed the files of all rows, and compares them with the ledger. */
export async function compareWhenWritten(directory: string, ledger: LedgerView): Promise<FilesComparison> {
  const isWritten = async () => {
    const [waiting] = await ledger.query<{ count: number }>('select count(*) as count from sink_outbox');
    return waiting?.count === 0 && (await compareFiles(directory, ledger)).lost.length === 0;
  };
  await until(isWritten, WRITTEN_MS_MAX, 500);
  return compareFiles(directory, ledger);
}

/** Compares the closed files with the ledger. */
async function compareFiles(directory: string, ledger: LedgerView): Promise<FilesComparison> {
  const names = closedFiles(directory);
  const lines = names.flatMap((name) => readLines(join(directory, name)));
  return { files: names.length, ...(await compareLines(lines, ledger)) };
}

/** Compares what a sink has got with the ledger. */
export async function compareLines(lines: readonly UsageRow[], ledger: LedgerView): Promise<LinesComparison> {
  const rows = await ledger.query<UsageRow & { settled_at: string }>(
    `select request_id, organization_id, error_code, usage_source, actual_input_tokens as input_tokens,
      actual_output_tokens as output_tokens, actual_cost_micros as cost_micros,
      to_char(settled_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as settled_at
     from requests`,
  );
  const expected = new Map(rows.map((row) => [row.request_id, textOf(row)]));
  const written = Map.groupBy(lines, textOf);
  return {
    lines: lines.length,
    lost: [...expected.values()].filter((text) => !written.has(text)),
    duplicated: [...written].filter(([, same]) => same.length > 1).map(([text]) => text),
    wrong: lines
      .filter((line) => expected.get(line.request_id) !== textOf(line))
      .filter((line) => !(isEstimate(line) && expected.has(line.request_id)))
      .map(textOf),
  };
}

function closedFiles(directory: string): string[] {
  return readdirSync(directory).filter((name) => name.endsWith('.jsonl'));
}

function readLines(path: string): UsageRow[] {
  const text = readFileSync(path, 'utf8');
  if (!text.endsWith('\n')) throw new Error(`${path} ends within a line`);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as UsageRow);
}

/** Recorded for a lost gateway; its record may replace it later. */
function isEstimate({ error_code, usage_source }: UsageRow): boolean {
  return error_code === 'gateway_lost' && usage_source === 'estimated';
}

function textOf(row: UsageRow): string {
  const { request_id, organization_id, error_code, usage_source, settled_at } = row;
  const figures = [row.input_tokens, row.output_tokens, row.cost_micros];
  return [request_id, organization_id, error_code, usage_source, ...figures, settled_at].join(' ');
}
