import type { BillingHistory } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { withSearch } from '../../address/change-search.ts';
import { billingHistoryQuery } from '../../api/control-queries.ts';
import { capabilitiesQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { formatCount } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState, ErrorCard } from '../../ui/states.tsx';
import { historyColumns } from './history-columns.tsx';

const words = text.billing;
/** The API returns at most this many of the newest records. */
const RECORDS_MAX = 1_000;

/** One list of the billing history. */
export function HistoryView({ list }: { readonly list: keyof BillingHistory }) {
  const api = useApi();
  const history = useQuery(billingHistoryQuery(api));
  const capabilities = useQuery(capabilitiesQuery(api));
  if (history.error !== null && history.data === undefined)
    return <ErrorCard error={history.error} onRetry={() => void history.refetch()} />;
  const isSelfHosted = capabilities.data?.mode === 'self_hosted';
  if (history.data?.[list].length === 0)
    return (
      <EmptyState
        title={isSelfHosted ? words.selfHosted : words.empty[list]}
        action={
          isSelfHosted ? (
            <Button asChild>
              <Link to="." search={withSearch({ tab: 'statement' })}>
                {words.toStatement}
              </Link>
            </Button>
          ) : undefined
        }
      />
    );
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
