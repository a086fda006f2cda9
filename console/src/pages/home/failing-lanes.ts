import type { Timeseries } from '@relay/contract';

export interface FailingLane {
  readonly id: string;
  readonly name: string;
  readonly failed: number;
  readonly requests: number;
}

/** Fewer requests say little about a lane. */
const REQUESTS_MIN = 5;
const FAILED_SHARE_MIN = 0.5;

/**
 * Lanes of which most requests fail, the most failures first. A lane's failures may be spread over many causes, none of which is
 * among the frequent ones.
 */
export function failingLanes(
  requests: Timeseries['series'],
  errors: Timeseries['series'],
): readonly FailingLane[] {
  const failedIn = new Map(errors.map(({ key, total }) => [key, total ?? 0]));
  return requests
    .flatMap(({ kind, key, label, total }): FailingLane[] =>
      kind === 'group' && key !== null
        ? [{ id: key, name: label, failed: failedIn.get(key) ?? 0, requests: total ?? 0 }]
        : [],
    )
    .filter(
      ({ failed, requests: all }) => failed > 0 && all >= REQUESTS_MIN && failed / all >= FAILED_SHARE_MIN,
    )
    .toSorted((a, b) => b.failed - a.failed);
}
