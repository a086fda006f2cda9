import type { BillingHistory } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { billingHistoryQuery } from '../../api/control-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { formatCount } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState, ErrorCard } from '../../ui/states.tsx';
import { historyColumns } from './history-columns.tsx';

const words = text.billing;
/** The API returns at most this many of the newest records. */
const RECORDS_MAX = 1_000;

/** One list of the billing history. */
export function HistoryView({ list }: { readonly list: keyof BillingHistory }) {
  const history = useQuery(billingHistoryQuery(useApi()));
  if (history.error !== null && history.data === undefined)
    return <ErrorCard error={history.error} onRetry={() => void history.refetch()} />;
  if (history.data?.[list].length === 0) return <EmptyState title={words.empty[list]} />;
  const rows: readonly BillingRecord[] | undefined = history.data?.[list];
  return (
    <>
      <DataTable
        // Resets the sorting for another list.
        key={list}
        label={words.tabs[list]}
        columns={historyColumns[list] as readonly Column<BillingRecord>[]}
        rows={rows}
        rowId={({ id }) => id}
      />
      {rows !== undefined && rows.length >= RECORDS_MAX ? (
        <p className="mt-3 text-xs text-ink-faint">{words.newest(formatCount(RECORDS_MAX))}</p>
      ) : null}
    </>
  );
}

type BillingRecord = BillingHistory[keyof BillingHistory][number];
