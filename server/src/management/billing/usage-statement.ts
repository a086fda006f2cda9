import type { UsageLine, UsageTotals } from '@relay/contract';
import type { Kysely } from 'kysely';
import {
  NO_ID,
  readStatementLines,
  readStatementTotals,
  type StatementLine,
  type StatementLines,
  type StatementSums,
} from '../../store/ledger/rollups/read-statement.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { type CursorList, cursorOfIds, idsOfCursor } from '../resources/cursor.ts';
import { wireCosts } from '../resources/wire-cost.ts';

/** A calendar month in UTC. */
export interface Month {
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
}

export function monthOf(name: string): Month {
  const [year = 0, month = 0] = name.split('-').map(Number);
  return { name, startMs: Date.UTC(year, month - 1), endMs: Date.UTC(year, month) };
}

export function monthAt(timeMs: number): Month {
  return monthOf(new Date(timeMs).toISOString().slice(0, 7));
}

interface LinesQuestion extends Pick<StatementLines, 'organizationId' | 'by' | 'limit'> {
  readonly month: Month;
  readonly cursor: string | undefined;
}

/** The organization's total usage. */
export async function readTotals(
  db: Kysely<Database>,
  organizationId: string,
  month: Month,
): Promise<UsageTotals> {
  return toTotals(await readStatementTotals(db, organizationId, month));
}

/** One line per user, or per user and key, with any usage; ordered by their ids. */
export async function readLines(
  db: Kysely<Database>,
  { organizationId, month, by, limit, cursor }: LinesQuestion,
): Promise<{ lines: UsageLine[]; nextCursor: string | null }> {
  const list = { route: 'getUsageStatement', organizationId } as const;
  const after = cursor === undefined ? null : afterCursor(list, cursor);
  // One row more than asked for shows whether there is a next page.
  const rows = await readStatementLines(db, { organizationId, period: month, by, limit: limit + 1, after });
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return {
    lines: shown.map(toLine),
    nextCursor: last === undefined ? null : cursorOfIds(list, last.user_id, last.key_id),
  };
}

function afterCursor(list: CursorList, cursor: string): { user_id: string; key_id: string } {
  const [user_id = NO_ID, key_id = NO_ID] = idsOfCursor(list, cursor);
  return { user_id, key_id };
}

function toLine(row: StatementLine): UsageLine {
  return {
    user_uuid: row.user_id === NO_ID ? null : row.user_id,
    user_name: row.user_name,
    api_key_id: row.key_id === NO_ID ? null : row.key_id,
    api_key_name: row.key_name,
    ...toTotals(row),
  };
}

function toTotals(row: StatementSums): UsageTotals {
  const sums = { metered_spend: BigInt(row.cost_picos), fallback_cost: BigInt(row.fallback_cost_picos) };
  return {
    requests: row.requests,
    metered_requests: row.metered_requests,
    estimated_requests: row.estimated_requests,
    input_tokens: row.input_tokens,
    cached_input_tokens: row.cached_input_tokens,
    output_tokens: row.output_tokens,
    ...wireCosts(sums, { priced: row.priced_attempts, unpriced: row.unpriced_requests }),
  };
}
