import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import type { DayTraffic } from '../../api/traffic-stats-queries.ts';
import { type KeyDay, keyDayQuery } from '../../api/usage-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { formatCount, formatDuration, formatMoneyShort } from '../../format/numbers.ts';
import { DaySpend } from '../../parts/day-figure.tsx';
import { ErrorShare } from '../../parts/error-share.tsx';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Figures, Section } from '../../ui/detail-list.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { isListStale, useRefreshKeys } from './use-refresh-keys.ts';

const words = text.keys.panel;
const REFRESH_MS = 15_000;

interface KeyDaySectionProps {
  readonly keyId: string;
  /** What the list shows; undefined while loading and where unknown. */
  readonly listed: DayTraffic | undefined;
}

/** What a key did in the last 24 hours. The list follows what is read here. */
export function KeyDaySection({ keyId, listed }: KeyDaySectionProps) {
  const { can } = useAccess();
  const refresh = useRefreshKeys();
  const day = useQuery({ ...keyDayQuery(useApi(), keyId), refetchInterval: REFRESH_MS });
  // Once for each pair of numbers: if they differ for long, it doesn't read on and on.
  const [listedRequests, requests] = [listed?.requests.total, day.data?.requests];
  useEffect(() => {
    if (isListStale(listedRequests, requests)) refresh();
  }, [listedRequests, requests, refresh]);
  return (
    <Section
      title={words.day}
      actions={
        <span className="flex gap-2">
          {can('listRequests') ? (
            <Button asChild size="small">
              <Link to="/requests" search={{ key: keyId, range: '24h' }}>
                {words.viewRequests}
              </Link>
            </Button>
          ) : null}
          <Button asChild size="small">
            <Link to="/usage" search={{ key: keyId, range: '24h' }}>
              {words.viewUsage}
            </Link>
          </Button>
        </span>
      }
    >
      <ErrorNote error={day.error} />
      {day.data !== undefined ? (
        <Figures of={figuresOf(day.data, listed)} />
      ) : day.error === null ? (
        <Skeleton className="w-full" />
      ) : null}
    </Section>
  );
}

function figuresOf(day: KeyDay, listed: DayTraffic | undefined): readonly (readonly [string, ReactNode])[] {
  const { requests, costMicros, failed, waited, waitMsP95: waitMs } = day;
  return [
    [words.requests, formatCount(requests)],
    [words.spend, costMicros === null ? <DaySpend key="spend" of={listed} /> : formatMoneyShort(costMicros)],
    [
      words.failed,
      <Noted key="failed" value={failed}>
        <ErrorShare of={{ requests, failed, rejected: 0, errors: [] }} />
      </Noted>,
    ],
    [
      words.waited,
      <Noted key="waited" value={waited}>
        <span className="text-wait-ink">{words.waitP95(formatDuration(waitMs ?? 0))}</span>
      </Noted>,
    ],
  ];
}

/** A count, with a note if there is something to count. */
function Noted({ value, children }: { readonly value: number; readonly children: ReactNode }) {
  return (
    <>
      {formatCount(value)}
      {value === 0 ? null : <span className="ml-1.5 text-xs font-normal">{children}</span>}
    </>
  );
}
