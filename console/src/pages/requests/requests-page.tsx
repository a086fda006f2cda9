import type { RequestLogEntry } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { ArrowUp, List } from 'lucide-react';
import { useCallback, useMemo, useState } from 'react';
import { requestCountQuery } from '../../api/request-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { formatCount } from '../../format/numbers.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { TimeRangeMenu } from '../../time-range/time-range-menu.tsx';
import { Button } from '../../ui/button.tsx';
import { LogTable } from '../../ui/log-table.tsx';
import { MoreRows } from '../../ui/more-rows.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyState, ErrorCard, NothingMatches } from '../../ui/states.tsx';
import { LiveSwitch } from './live-switch.tsx';
import { RequestActions } from './request-actions.tsx';
import { requestColumns } from './request-columns.tsx';
import { RequestFiltersBar } from './request-filters.tsx';
import { RequestHistogram } from './request-histogram.tsx';
import { useRequestNames } from './use-request-names.ts';
import { useRequestSearch } from './use-request-search.ts';
import { useRequests } from './use-requests.ts';

const words = text.requests;

/** Every request of the time range, and what is new as it ends. */
export function RequestsPage() {
  const { filters, range, isLive, setLive, setFilters, show } = useRequestSearch();
  const { holds } = useAccess();
  const names = useRequestNames();
  const [isTop, setIsTop] = useState(true);
  const isBlocked = range.to !== undefined;
  const isFollowing = isLive && !isBlocked;
  const requests = useRequests({ filters, range, isLive: isFollowing, isHolding: !isTop });
  const { list, rows, tail, shown, keepPlace, readAgain } = requests;
  const count = useQuery({ ...requestCountQuery(useApi()), enabled: rows?.length === 0 });
  const columns = useMemo(() => requestColumns(names), [names]);
  const open = useOpen(keepPlace);
  const { fetchNextPage, isFetching } = list;
  const readOn = useCallback(() => {
    if (!isFetching) void fetchNextPage();
  }, [fetchNextPage, isFetching]);
  // Without filters it is the time range that hides everything.
  const clear = () => show({}, Object.keys(filters).length === 0 ? { range: '90d' } : range);
  const isNothing = rows?.length === 0 && !list.hasNextPage && !list.isPlaceholderData;
  const newest = () => window.scrollTo({ top: 0 });
  return (
    <Page title={text.pages.requests} description={words.description} actions={<TimeRangeMenu />}>
      {list.error !== null && list.data === undefined ? (
        <ErrorCard error={list.error} onRetry={() => void list.refetch()} />
      ) : isNothing && count.data === 0 ? (
        <NothingYet />
      ) : (
        <div className="space-y-4">
          <RequestHistogram filters={filters} isLive={isFollowing} />
          <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
            <RequestFiltersBar
              filters={filters}
              names={names}
              rows={rows}
              onChange={setFilters}
              onClear={() => show({}, range)}
            />
            <RequestActions
              filters={filters}
              range={range}
              shown={shown}
              onShow={show}
              onReadAgain={readAgain}
            >
              <LiveSwitch
                isOn={isLive}
                isBlocked={isBlocked}
                isPaused={!isTop}
                tail={tail}
                onChange={setLive}
              />
            </RequestActions>
          </div>
          {holds('relay:usage:read:organization') ? null : (
            <p className="text-xs text-ink-faint">{words.onlyMine}</p>
          )}
          {isNothing ? (
            <NothingMatches onClear={clear} />
          ) : (
            <div>
              <LogTable
                label={words.table}
                columns={columns}
                rows={rows?.length === 0 ? undefined : rows}
                rowId={idOf}
                hrefOf={hrefOf}
                onOpen={open}
                hasMore={list.hasNextPage}
                onNearEnd={readOn}
                onTop={setIsTop}
              />
              {rows === undefined ? null : (
                <MoreRows list={list} label={words.more} note={noteOf(list.hasNextPage, rows.length)} />
              )}
            </div>
          )}
          {!isTop && (requests.held > 0 || requests.isCut) ? (
            <div className="pointer-events-none fixed inset-x-0 top-24 z-20 flex justify-center lg:top-11 lg:pl-60">
              <Button
                look="solid"
                size="small"
                className="pointer-events-auto rounded-full shadow-raised"
                onClick={newest}
              >
                <ArrowUp aria-hidden className="size-4" />
                {words.live.newCount(requests.held, formatCount(requests.held), requests.isCut)}
              </Button>
            </div>
          ) : null}
        </div>
      )}
    </Page>
  );
}

function NothingYet() {
  return (
    <EmptyState
      icon={<List aria-hidden />}
      title={words.empty}
      action={
        <Button asChild>
          <Link to="/playground">{words.toPlayground}</Link>
        </Button>
      }
    />
  );
}

/** Opens a request; the list is found again as it was left. */
function useOpen(keepPlace: () => void): (row: RequestLogEntry) => void {
  const navigate = useNavigate();
  return useCallback(
    ({ request_id: requestId }) => {
      keepPlace();
      void navigate({ to: '/requests/$requestId', params: { requestId } });
    },
    [navigate, keepPlace],
  );
}

function idOf({ request_id: id }: RequestLogEntry): string {
  return id;
}

function hrefOf({ request_id: id }: RequestLogEntry): string {
  return `/console/requests/${id}`;
}

function noteOf(hasMore: boolean, count: number): string {
  return hasMore ? words.soFar(formatCount(count)) : words.end(formatCount(count));
}
