import type { UsageTotals } from '@relay/contract';
import type { StatementGroup } from '../../address/control-search.ts';
import { formatCount, formatMoney } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { type Column, nameWidth } from '../../ui/data-table.tsx';
import type { StatementRow } from './statement-rows.ts';

const words = text.billing.statement;

type Count = 'requests' | 'metered_requests' | 'input_tokens' | 'output_tokens';

/** Owner, usage and spend; the totals below, unless the organization is the only row. */
export function statementColumns(
  by: StatementGroup,
  totals: UsageTotals | undefined,
): readonly Column<StatementRow>[] {
  const sums = by === 'organization' ? undefined : totals;
  return [
    {
      id: 'who',
      header: words.groups[by],
      sortBy: (row) => nameOf(row, by),
      cell: (row) => (
        <div className="min-w-0">
          <div className="truncate font-medium">{nameOf(row, by)}</div>
          {by === 'key' ? <div className="truncate text-xs text-ink-faint">{row.user}</div> : null}
        </div>
      ),
      width: nameWidth,
      ...(sums === undefined ? {} : { total: () => words.total }),
    },
    count('requests', words.requests, sums),
    count('metered_requests', words.metered, sums, 'lg'),
    count('input_tokens', words.tokensIn, sums, 'md'),
    count('output_tokens', words.tokensOut, sums, 'md'),
    {
      id: 'spend',
      header: words.spend,
      align: 'right',
      sortBy: ({ metered_spend_micros: micros }) => micros ?? -1,
      cell: (row) => <Spend of={row} />,
      ...(sums === undefined ? {} : { total: () => <Spend of={sums} /> }),
    },
  ];
}

function Spend({ of: { metered_spend_micros: micros } }: { readonly of: UsageTotals }) {
  if (micros !== null) return formatMoney(micros);
  return (
    <span title={text.unpriced.noPriceHint} className="text-ink-faint">
      {text.unpriced.noPrice}
    </span>
  );
}

function nameOf({ user, key }: StatementRow, by: StatementGroup): string {
  if (by === 'organization') return words.whole;
  return (by === 'key' ? key : user) ?? '';
}

function count(
  id: Count,
  header: string,
  sums: UsageTotals | undefined,
  from?: 'md' | 'lg',
): Column<StatementRow> {
  return {
    id,
    header,
    align: 'right',
    sortBy: (row) => row[id],
    cell: (row) => formatCount(row[id]),
    ...(sums === undefined ? {} : { total: () => formatCount(sums[id]) }),
    ...(from === undefined ? {} : { from }),
  };
}
