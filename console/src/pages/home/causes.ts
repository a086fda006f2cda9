import type { RequestLogEntry } from '@relay/contract';

/** Failed requests with the same error code. */
export interface Cause {
  readonly code: string | null;
  readonly count: number;
  readonly latest: RequestLogEntry;
}

/** The causes of failed requests, the most frequent first. The entries are sorted, newest first. */
export function causesOf(entries: readonly RequestLogEntry[]): readonly Cause[] {
  const groups = Map.groupBy(entries, ({ error_code: code }) => code);
  return [...groups]
    .flatMap(([code, [latest, ...rest]]) =>
      latest === undefined ? [] : [{ code, count: rest.length + 1, latest }],
    )
    .toSorted((a, b) => b.count - a.count);
}
