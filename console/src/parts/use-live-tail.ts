import type { RequestLogEntry } from '@relay/contract';
import { useEffect, useEffectEvent, useState } from 'react';
import { type FollowState, followEvents } from '../api/follow-events.ts';
import { useApi } from '../api/use-api.ts';

export interface LiveTail {
  readonly state: FollowState;
  /** Why the tail is not live. */
  readonly error: Error | null;
}

interface LiveTailOptions {
  readonly isOn: boolean;
  /** The filters by the API's names. */
  readonly query: Readonly<Record<string, string>>;
  /** The stream starts at the present; read older entries elsewhere. */
  readonly onBeginning: () => void;
  readonly onEntries: (entries: readonly RequestLogEntry[]) => void;
}

/** Follows requests as they finish. Resumes after the last one across broken connections and server restarts. */
export function useLiveTail({ isOn, query, onBeginning, onEntries }: LiveTailOptions): LiveTail {
  const api = useApi();
  const [tail, setTail] = useState<LiveTail>({ state: 'connecting', error: null });
  const begin = useEffectEvent(onBeginning);
  const tell = useEffectEvent(onEntries);
  const filters = JSON.stringify(query);
  useEffect(() => {
    if (!isOn) return;
    const stopping = new AbortController();
    void followEvents({
      async open(lastId, signal) {
        const { data } = await api.GET('/api/relay/requests/stream', {
          params: { query: JSON.parse(filters) },
          headers: lastId === null ? {} : { 'last-event-id': lastId },
          parseAs: 'stream',
          signal,
        });
        return data ?? null;
      },
      onState: (state, error) => setTail({ state, error }),
      onBeginning: () => begin(),
      onEvents: (data) => tell(data.map((each): RequestLogEntry => JSON.parse(each))),
      signal: stopping.signal,
      pause: (ms, signal) =>
        new Promise((resolve) => {
          const timer = setTimeout(resolve, ms);
          signal.addEventListener('abort', () => {
            clearTimeout(timer);
            resolve();
          });
        }),
      random: Math.random,
    });
    return () => stopping.abort();
  }, [api, isOn, filters]);
  return tail;
}
