import type { AuditEntry } from '@relay/contract';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { auditBegunQuery, auditLogQuery } from '../../api/control-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { formatCount } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { TimeRangeMenu } from '../../time-range/time-range-menu.tsx';
import { classes } from '../../ui/class-names.ts';
import { LogTable } from '../../ui/log-table.tsx';
import { MoreRows } from '../../ui/more-rows.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyState, ErrorCard, NothingMatches } from '../../ui/states.tsx';
import { auditColumns } from './audit-columns.tsx';
import { AuditFilters } from './audit-filters.tsx';
import { EntryPanel } from './entry-panel.tsx';
import { useAuditSearch } from './use-audit-search.ts';
import { useObjectNames } from './use-object-names.ts';

const words = text.audit;
const ignore = () => {};

export function AuditPage() {
  const api = useApi();
  const search = useAuditSearch();
  const { openId, open } = search;
  const log = useInfiniteQuery(auditLogQuery(api, search.filters, search.span));
  const { hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = log;
  const nameOf = useObjectNames();
  const rows = useMemo(() => log.data?.pages.flatMap(({ data }) => data), [log.data]);
  const isEmpty = rows?.length === 0;
  // Only needed without rows, to tell an empty log from filters that match nothing.
  const begun = useQuery({ ...auditBegunQuery(api), enabled: isEmpty });
  const columns = useMemo(() => auditColumns(nameOf), [nameOf]);
  const readOn = useCallback(() => {
    if (!isFetching && !isFetchNextPageError) void fetchNextPage();
  }, [isFetching, isFetchNextPageError, fetchNextPage]);
  const openRow = useCallback(({ id }: AuditEntry) => open(id), [open]);
  const count = rows?.length ?? 0;
  return (
    <Page title={text.pages.audit} description={words.description} actions={<TimeRangeMenu />}>
      {log.error !== null && rows === undefined ? (
        <ErrorCard error={log.error} onRetry={() => void log.refetch()} />
      ) : isEmpty && begun.data === false ? (
        <EmptyState title={words.empty} />
      ) : (
        <div className="space-y-4">
          <AuditFilters search={search} />
          {isEmpty && begun.data === true ? (
            <NothingMatches onClear={search.clear} />
          ) : (
            // Previous rows stay visible, dimmed, while new ones load.
            <div className={classes(log.isPlaceholderData && 'opacity-50')}>
              <LogTable
                label={words.table}
                columns={columns}
                rows={isEmpty ? undefined : rows}
                rowId={({ id }) => id}
                hrefOf={hrefOf}
                onOpen={openRow}
                hasMore={hasNextPage}
                onNearEnd={readOn}
                onTop={ignore}
              />
              {rows === undefined || isEmpty ? null : (
                <MoreRows
                  list={log}
                  label={words.more}
                  note={hasNextPage ? words.shown(formatCount(count)) : words.all(count)}
                />
              )}
            </div>
          )}
        </div>
      )}
      {openId === null ? null : (
        <EntryPanel
          key={openId}
          id={openId}
          entry={rows?.find(({ id }) => id === openId)}
          nameOf={nameOf}
          onClose={search.close}
          onHistory={(type, target) => search.set({ type, target, action: undefined, actor: undefined })}
        />
      )}
    </Page>
  );
}

/** The URL of this page with the entry open. */
function hrefOf({ id }: AuditEntry): string {
  const url = new URL(window.location.href);
  url.searchParams.set('open', id);
  return url.pathname + url.search;
}
