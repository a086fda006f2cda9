import type { UsageTotals } from '@relay/contract';
import type { StatementGroup } from '../../address/control-search.ts';
import { formatCount } from '../../format/numbers.ts';
import { SpendSum } from '../../parts/spend-sum.tsx';
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

function Spend({ of }: { readonly of: UsageTotals }) {
  const { metered_spend_micros: micros, metered_spend_usd: usd, unpriced_requests: unpriced } = of;
  return <SpendSum micros={micros} usd={usd} unpriced={unpriced} />;
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
