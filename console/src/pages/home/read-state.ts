/** How far a read has come: `closed` without access; `failed` if the latest attempt failed. */
type ReadState = 'closed' | 'loading' | 'failed' | 'read';

interface Answer {
  readonly data: unknown;
  readonly error: Error | null;
}

export function readStateOf(enabled: boolean, { data, error }: Answer): ReadState {
  if (!enabled) return 'closed';
  if (error !== null) return 'failed';
  return data === undefined ? 'loading' : 'read';
}

/** What Home knows about failed requests, unhealthy endpoints and limits. */
interface Knowledge {
  readonly states: readonly ReadState[];
  readonly troubles: readonly number[];
}

/** Whether nothing is wrong. A failed read leaves that unknown; what the caller cannot read does not count. */
export function isCalm({ states, troubles }: Knowledge): boolean {
  const isKnown = states.every((state) => state === 'read' || state === 'closed');
  return isKnown && troubles.every((count) => count === 0);
}
