import type { UsageLine, UsageStatement, UsageTotals } from '@relay/contract';
import type { StatementGroup } from '../../address/control-search.ts';
import { csvText } from '../../format/csv.ts';
import { text } from '../../text/index.ts';

const words = text.billing.statement;

/** A row of the statement and of its CSV. */
export interface StatementRow extends UsageTotals {
  readonly id: string;
  readonly user: string | null;
  readonly key: string | null;
  readonly userId: string | null;
  readonly keyId: string | null;
}

/** One row for the organization with the total, or one for each user or key with usage. */
export function statementRows(
  statement: UsageStatement,
  by: StatementGroup,
  keyless: string,
): readonly StatementRow[] {
  if (by !== 'organization') return statement.lines.map((line) => rowOf(line, by, keyless));
  const { totals } = statement;
  return totals.requests === 0
    ? []
    : [{ ...totals, id: 'organization', user: null, key: null, userId: null, keyId: null }];
}

function rowOf(line: UsageLine, by: 'user' | 'key', keyless: string): StatementRow {
  const { user_uuid: userId, user_name: user, api_key_id: keyId, api_key_name: key, ...usage } = line;
  return {
    ...usage,
    id: `${userId} ${keyId}`,
    user: user ?? (userId === null ? words.noUser : words.formerUser),
    key: by === 'user' ? null : (key ?? (keyId === null ? keyless : words.deletedKey)),
    userId,
    keyId,
  };
}

const USAGE_COLUMNS = [
  'requests',
  'metered_requests',
  'estimated_requests',
  'unpriced_requests',
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'metered_spend_micros',
  'metered_spend_usd',
  'fallback_cost_micros',
  'fallback_cost_usd',
] as const satisfies readonly (keyof UsageTotals)[];

/** The rows with the API's exact numbers. Every row states its basis, so that it cannot pass for an invoice. */
export function statementCsv(statement: UsageStatement, by: StatementGroup, keyless: string): string {
  const who = {
    organization: [],
    user: ['user', 'user_id'],
    key: ['user', 'user_id', 'api_key', 'api_key_id'],
  };
  const head = ['month', 'basis', 'currency', ...who[by], ...USAGE_COLUMNS];
  const rows = statementRows(statement, by, keyless).map((row) => {
    const { user, userId, key, keyId } = row;
    const names = { organization: [], user: [user, userId], key: [user, userId, key, keyId] };
    const { month, basis, currency } = statement;
    return [month, basis, currency, ...names[by], ...USAGE_COLUMNS.map((column) => row[column])];
  });
  return csvText([head, ...rows]);
}

const MONTHS_BACK = 24;

/** Months in UTC as YYYY-MM, the current one first. */
export function monthsUpTo(nowMs: number): readonly string[] {
  const now = new Date(nowMs);
  return Array.from({ length: MONTHS_BACK }, (_, back) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back)).toISOString().slice(0, 7),
  );
}
