import type { Live } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { liveQuery } from '../../api/live-queries.ts';
import { endpointsQuery, HEALTH_REFRESH, lanesQuery, membershipsQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { type BoardLane, boardOf } from './board-rows.ts';

export type LiveState = 'connecting' | 'live' | 'reconnecting' | 'paused';

export interface LiveView {
  readonly state: LiveState;
  readonly live: Live | undefined;
  /** When it was read, by this browser's clock. */
  readonly readAtMs: number;
  /** Undefined while loading. */
  readonly board: readonly BoardLane[] | undefined;
  /** Lanes with recent requests, so that a row stays for a moment after its last request. */
  readonly recent: ReadonlySet<string>;
  readonly error: Error | null;
  readonly retry: () => void;
}

const RECENT_MS = 10_000;
const NONE: readonly never[] = [];

export function useLive(isPaused: boolean): LiveView {
  const api = useApi();
  const { can } = useAccess();
  const live = useQuery({ ...liveQuery(api), enabled: !isPaused });
  // The strip continues to read; a paused board keeps what it showed.
  const held = useRef({ data: live.data, readAtMs: live.dataUpdatedAt });
  if (!isPaused) held.current = { data: live.data, readAtMs: live.dataUpdatedAt };
  const { data: shown, readAtMs } = held.current;
  const lanes = useQuery({ ...lanesQuery(api), enabled: can('listLanes') });
  const memberships = useQuery({ ...membershipsQuery(api), enabled: can('listMemberships') });
  const endpoints = useQuery({ ...endpointsQuery(api), ...HEALTH_REFRESH, enabled: can('listEndpoints') });
  const parts = [lanes, memberships, endpoints];
  // Does not wait for configuration the caller cannot read.
  const isKnown = parts.every(
    ({ data, fetchStatus, error }) => data !== undefined || fetchStatus === 'idle' || error !== null,
  );
  const board = useMemo(() => {
    if (shown === undefined || !isKnown) return undefined;
    const known = {
      lanes: lanes.data ?? NONE,
      memberships: memberships.data ?? NONE,
      endpoints: endpoints.data ?? NONE,
    };
    return boardOf(shown, known, text.live.board.withoutLane);
  }, [shown, isKnown, lanes.data, memberships.data, endpoints.data]);
  const recent = useRecent(shown);
  const isBroken = live.error !== null;
  return {
    state: isPaused ? 'paused' : shown === undefined ? 'connecting' : isBroken ? 'reconnecting' : 'live',
    live: shown,
    readAtMs,
    board,
    recent,
    error: live.error,
    retry: () => void live.refetch(),
  };
}

/** Lanes with requests in the last seconds. */
function useRecent(live: Live | undefined): ReadonlySet<string> {
  const [seen, setSeen] = useState<ReadonlyMap<string, number>>(() => new Map());
  useEffect(() => {
    if (live === undefined) return;
    const nowMs = Date.parse(live.at);
    setSeen((before) => {
      const kept = [...before].filter(([, atMs]) => nowMs - atMs < RECENT_MS);
      return new Map([...kept, ...live.lanes.map(({ lane_id: id }) => [id ?? '', nowMs] as const)]);
    });
  }, [live]);
  return useMemo(() => new Set(seen.keys()), [seen]);
}
