import type { RequestLogEntry } from '@relay/contract';
import { useNavigate } from '@tanstack/react-router';
import { ArrowUp } from 'lucide-react';
import { useCallback, useMemo } from 'react';
import type { RequestsShown } from '../../api/request-queries.ts';
import { formatCount } from '../../format/numbers.ts';
import { useKeylessName } from '../../session/use-keyless-name.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { LogTable } from '../../ui/log-table.tsx';
import { MoreRows } from '../../ui/more-rows.tsx';
import { requestColumns } from './request-columns.tsx';
import type { RequestNames } from './use-request-names.ts';
import type { useRequests } from './use-requests.ts';

const words = text.requests;

interface RequestRowsProps {
  readonly requests: ReturnType<typeof useRequests>;
  readonly names: RequestNames;
  readonly onTop: (isTop: boolean) => void;
}

/** The table of requests, which reads the next page before its end is visible. */
export function RequestRows({ requests, names, onTop }: RequestRowsProps) {
  const { list, rows, keepPlace, shown } = requests;
  const keyless = useKeylessName();
  const columns = useMemo(() => requestColumns(names, keyless), [names, keyless]);
  const open = useOpen(keepPlace, shown);
  const { fetchNextPage, isFetching } = list;
  const readOn = useCallback(() => {
    if (!isFetching) void fetchNextPage();
  }, [fetchNextPage, isFetching]);
  return (
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
        onTop={onTop}
      />
      {rows === undefined ? null : (
        <MoreRows list={list} label={words.more} note={noteOf(list.hasNextPage, rows.length)} />
      )}
    </div>
  );
}

/** Counts the requests that arrived while the user was scrolled down, and leads to them. */
export function NewRequests({ requests: { held, isCut } }: Pick<RequestRowsProps, 'requests'>) {
  return (
    <div className="pointer-events-none fixed inset-x-0 top-24 z-20 flex justify-center lg:top-11 lg:pl-60">
      <Button
        look="solid"
        size="small"
        className="pointer-events-auto rounded-full shadow-raised"
        onClick={() => window.scrollTo({ top: 0 })}
      >
        <ArrowUp aria-hidden className="size-4" />
        {words.live.newCount(held, isCut)}
      </Button>
    </div>
  );
}

/** Opens a request, and keeps the scroll position, the filters and the time range for the way back. */
function useOpen(keepPlace: () => void, { filters, range }: RequestsShown): (row: RequestLogEntry) => void {
  const navigate = useNavigate();
  return useCallback(
    ({ request_id: requestId }) => {
      keepPlace();
      void navigate({
        to: '/requests/$requestId',
        params: { requestId },
        state: { requestList: { ...filters, ...range } },
      });
    },
    [navigate, keepPlace, filters, range],
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
