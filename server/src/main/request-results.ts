import { errors, isErrorCode } from '@relay/contract';
import type { RequestRecord } from '../domain/request-record.ts';
import { verdictOfStatus } from '../domain/routing/upstream-verdict.ts';
import type { Labels } from '../kit/metrics.ts';

/**
 * How a request ended, for alerts. `throttled`: the provider asked for a pause. `limited`: a shared limit or a full queue. `client`: the
 * client's own doing, which includes a limit of its key, its member or its team, and leaving early.
 */
const RESULTS = ['served', 'failed', 'throttled', 'limited', 'client'] as const;
type Result = (typeof RESULTS)[number];

/** Lanes with counts of their own; requests of further ones count as `other`. */
const LANES_MAX = 50;
const UPSTREAM_STATUS = /^upstream_status_(\d{3})$/;
const EXCEEDS_LIMIT = 'request_exceeds_limit';

type Ended = Pick<RequestRecord, 'state' | 'cause' | 'boundPolicy' | 'laneId'>;

export interface RequestResults {
  /** Counts a finished request. */
  ended(record: Ended): void;
  /** Counts a request that was refused before it became an exchange, such as one without a valid key. */
  refused(code: string): void;
  byCause(): [Labels, number][];
  byLane(): [Labels, number][];
}

export function countResults(): RequestResults {
  const causes = new Map<string, { readonly result: Result; count: number }>();
  const lanes = new Map<string, Record<Result, number>>();
  let served = 0;

  function count(cause: string, result: Result): void {
    const key = `${result} ${cause}`;
    const known = causes.get(key);
    if (known === undefined) causes.set(key, { result, count: 1 });
    else known.count += 1;
  }

  function countsOf(lane: string): Record<Result, number> {
    const known = lanes.get(lane);
    if (known !== undefined) return known;
    if (lanes.size >= LANES_MAX && lane !== 'other') return countsOf('other');
    const counts = { served: 0, failed: 0, throttled: 0, limited: 0, client: 0 };
    lanes.set(lane, counts);
    return counts;
  }

  return {
    ended(record) {
      const result = resultOf(record);
      countsOf(record.laneId ?? 'none')[result] += 1;
      if (result === 'served') served += 1;
      else count(causeOf(record.cause), result);
    },
    refused: (code) => count(code, resultOfCode(code)),
    byCause: () => [
      [{ result: 'served', cause: 'none' }, served],
      ...[...causes].map(([key, { result, count }]): [Labels, number] => [
        { result, cause: key.slice(result.length + 1) },
        count,
      ]),
    ],
    byLane: () =>
      [...lanes].flatMap(([lane, counts]) =>
        RESULTS.map((result): [Labels, number] => [{ lane, result }, counts[result]]),
      ),
  };
}

function resultOf({ state, cause, boundPolicy }: Ended): Result {
  if (state === 'completed') return 'served';
  if (state === 'cancelled' || cause === null) return 'client';
  const [, status] = UPSTREAM_STATUS.exec(cause) ?? [];
  if (status !== undefined) return resultOfStatus(Number(status));
  if (!isErrorCode(cause) || errors[cause].owner !== 'capacity' || cause === EXCEEDS_LIMIT)
    return resultOfCode(cause);
  if (cause === 'queue_full') return 'limited';
  // Without a limit, it is the pause that the provider asked for.
  if (boundPolicy == null) return 'throttled';
  return boundPolicy.kind === 'resource' ? 'limited' : 'client';
}

function resultOfStatus(status: number): Result {
  const { health, movesOn } = verdictOfStatus(status);
  if (health === 'throttled') return 'throttled';
  return movesOn ? 'failed' : 'client';
}

/** A cause outside the contract is a fault of the provider in the middle of its response. */
function resultOfCode(code: string): Result {
  if (!isErrorCode(code)) return 'failed';
  const { owner } = errors[code];
  return owner === 'client' || owner === 'capacity' ? 'client' : 'failed';
}

/** A provider may send any status; a label has few values. */
function causeOf(cause: string | null): string {
  const [, status] = UPSTREAM_STATUS.exec(cause ?? '') ?? [];
  if (status === undefined || status === '404' || status === '429') return cause ?? 'none';
  return `upstream_status_${status[0]}xx`;
}
