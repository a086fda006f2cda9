import type { StatementGroup } from '../../address/control-search.ts';
import { formatCount, formatMoney } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { type Column, nameWidth } from '../../ui/data-table.tsx';
import type { StatementRow } from './statement-rows.ts';

const words = text.billing.statement;

type Count = 'requests' | 'metered_requests' | 'input_tokens' | 'output_tokens';

/** Owner, usage and spend. */
export function statementColumns(by: StatementGroup): readonly Column<StatementRow>[] {
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
    },
    count('requests', words.requests),
    count('metered_requests', words.metered, 'lg'),
    count('input_tokens', words.tokensIn, 'md'),
    count('output_tokens', words.tokensOut, 'md'),
    {
      id: 'spend',
      header: words.spend,
      align: 'right',
      sortBy: ({ metered_spend_micros: micros }) => micros ?? -1,
      cell: ({ metered_spend_micros: micros }) =>
        micros === null ? (
          <span title={words.noPriceHint} className="text-ink-faint">
            {words.noPrice}
          </span>
        ) : (
          formatMoney(micros)
        ),
    },
  ];
}

function nameOf({ user, key }: StatementRow, by: StatementGroup): string {
  if (by === 'organization') return words.whole;
  return (by === 'key' ? key : user) ?? '';
}

function count(id: Count, header: string, from?: 'md' | 'lg'): Column<StatementRow> {
  return {
    id,
    header,
    align: 'right',
    sortBy: (row) => row[id],
    cell: (row) => formatCount(row[id]),
    ...(from === undefined ? {} : { from }),
  };
}
