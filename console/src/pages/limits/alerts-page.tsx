import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { alertsQuery } from '../../api/alert-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { formatCount } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { MoreRows } from '../../ui/more-rows.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyState, ErrorCard } from '../../ui/states.tsx';
import { alertColumns } from './alert-columns.tsx';
import { AlertDestinations } from './alert-destinations.tsx';
import { useLimitPlaces } from './use-limit-places.ts';

const words = text.alerts;

/** Which limits are running out, and where alerts are sent. */
export function AlertsPage() {
  return (
    <Page title={text.pages.alerts} description={words.description}>
      <div className="space-y-8">
        <RecentAlerts />
        <AlertDestinations />
      </div>
    </Page>
  );
}

function RecentAlerts() {
  const list = useInfiniteQuery(alertsQuery(useApi()));
  const { names } = useLimitPlaces();
  const columns = useMemo(() => alertColumns(names), [names]);
  const rows = useMemo(() => list.data?.pages.flatMap(({ data }) => data), [list.data]);
  if (list.error !== null && rows === undefined)
    return <ErrorCard error={list.error} onRetry={() => void list.refetch()} />;
  return (
    <section aria-label={words.recent}>
      {rows?.length === 0 ? (
        <EmptyState
          title={words.none}
          action={
            <Button asChild>
              <Link to="/limits">{words.toLimits}</Link>
            </Button>
          }
        />
      ) : (
        <>
          <DataTable label={words.table} columns={columns} rows={rows} rowId={({ id }) => id} />
          {rows === undefined ? null : (
            <MoreRows list={list} label={words.more} note={words.shown(formatCount(rows.length))} />
          )}
        </>
      )}
    </section>
  );
}
