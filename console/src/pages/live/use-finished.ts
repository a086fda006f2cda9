import type { RequestLogEntry } from '@relay/contract';
import { useState } from 'react';
import type { FollowState } from '../../api/follow-events.ts';
import { readFinished } from '../../api/live-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useLiveTail } from '../../parts/use-live-tail.ts';

export interface Finished {
  /** Newest first; undefined while loading. */
  readonly entries: readonly RequestLogEntry[] | undefined;
  readonly state: FollowState;
}

const SHOWN_MAX = 14;
const ALL = {};

/** The latest finished requests. Resuming after a pause reloads the list. */
export function useFinished(isPaused: boolean): Finished {
  const api = useApi();
  const [entries, setEntries] = useState<readonly RequestLogEntry[]>();
  const add = (told: readonly RequestLogEntry[]) => setEntries((before) => newest(told, before));
  const { state } = useLiveTail({
    isOn: !isPaused,
    query: ALL,
    // The stream reports failures and retries.
    onBeginning: () => void readFinished(api).then(add, () => undefined),
    onEntries: add,
  });
  return { entries, state };
}

/** A repeated request replaces its earlier entry. */
function newest(
  told: readonly RequestLogEntry[],
  before: readonly RequestLogEntry[] = [],
): readonly RequestLogEntry[] {
  const ids = new Set(told.map(({ request_id: id }) => id));
  return [...told, ...before.filter(({ request_id: id }) => !ids.has(id))]
    .toSorted((a, b) => Date.parse(b.finished_at) - Date.parse(a.finished_at))
    .slice(0, SHOWN_MAX);
}
