import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { requestCountQuery } from '../../api/request-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { TimeRangeMenu } from '../../time-range/time-range-menu.tsx';
import { Button } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyState, ErrorCard, NothingMatches } from '../../ui/states.tsx';
import { LiveSwitch } from './live-switch.tsx';
import { RequestActions } from './request-actions.tsx';
import { RequestFiltersBar } from './request-filters.tsx';
import { RequestHistogram } from './request-histogram.tsx';
import { NewRequests, RequestRows } from './request-rows.tsx';
import { useRequestNames } from './use-request-names.ts';
import { useRequestSearch } from './use-request-search.ts';
import { useRequests } from './use-requests.ts';

const words = text.requests;

/** Every request of the time range, and new ones as they end. */
export function RequestsPage() {
  const { filters, range, isLive, setLive, setFilters, show } = useRequestSearch();
  const { holds } = useAccess();
  const names = useRequestNames();
  const [isTop, setIsTop] = useState(true);
  const isBlocked = range.to !== undefined;
  const isFollowing = isLive && !isBlocked;
  const requests = useRequests({ filters, range, isLive: isFollowing, isHolding: !isTop });
  const { list, rows, tail, shown, readAgain } = requests;
  const count = useQuery({ ...requestCountQuery(useApi()), enabled: rows?.length === 0 });
  // Without filters, the time range hides everything.
  const clear = () => show({}, Object.keys(filters).length === 0 ? { range: '90d' } : range);
  const isNothing = rows?.length === 0 && !list.hasNextPage && !list.isPlaceholderData;
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
            <RequestRows requests={requests} names={names} onTop={setIsTop} />
          )}
          {!isTop && (requests.held > 0 || requests.isCut) ? <NewRequests requests={requests} /> : null}
        </div>
      )}
    </Page>
  );
}

function NothingYet() {
  return (
    <EmptyState
      title={words.empty}
      action={
        <Button asChild>
          <Link to="/playground">{words.toPlayground}</Link>
        </Button>
      }
    />
  );
}
