import type { Live, RequestLogEntry } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { liveOfKeyQuery, readLatestOfKey } from '../../api/live-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useLiveTail } from '../../parts/use-live-tail.ts';
import { useAccess } from '../../session/use-access.ts';

/** The first request of a key: due, waiting for capacity, in flight, or ended. */
export type FirstRequestState =
  | { readonly phase: 'due' }
  | { readonly phase: 'waiting'; readonly waitMs: number }
  | { readonly phase: 'inFlight' }
  | { readonly phase: 'ended'; readonly entry: RequestLogEntry };

const DUE: FirstRequestState = { phase: 'due' };

/** The live tail tells how a request ended; live traffic tells that it waits until then. */
export function useFirstRequest(keyId: string): FirstRequestState {
  const api = useApi();
  const { can } = useAccess();
  const [state, setState] = useState(DUE);
  const isOver = state.phase === 'ended';
  const end = (entry: RequestLogEntry | undefined) => {
    if (entry !== undefined)
      setState((before) => (before.phase === 'ended' ? before : { phase: 'ended', entry }));
  };
  useLiveTail({
    isOn: !isOver,
    query: { api_key_id: keyId },
    // The request may have finished before the stream began. The stream reports failures and retries.
    onBeginning: () => void readLatestOfKey(api, keyId).then(end, () => undefined),
    onEntries: ([entry]) => end(entry),
  });
  const { data } = useQuery({ ...liveOfKeyQuery(api, keyId), enabled: !isOver && can('getLive') });
  useEffect(() => {
    if (data !== undefined) setState((before) => withLive(before, data));
  }, [data]);
  return state;
}

/** A request that is no longer live has ended: its row arrives within a second, so the state does not go back. */
export function withLive(before: FirstRequestState, { lanes }: Pick<Live, 'lanes'>): FirstRequestState {
  if (before.phase === 'ended') return before;
  if (lanes.some(({ in_flight: count }) => count > 0)) return { phase: 'inFlight' };
  // A lane is also live for its recent fallbacks alone.
  const waits = lanes.filter(({ waiting }) => waiting > 0).map(({ longest_wait_ms: waitMs }) => waitMs);
  return waits.length === 0 ? before : { phase: 'waiting', waitMs: Math.max(...waits) };
}
