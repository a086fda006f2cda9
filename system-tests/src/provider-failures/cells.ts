import { type FailureRow, failureRows, type Outcome } from './failure-rows.ts';

/** Which candidates are left when the first fails. */
export type Left = 'none' | 'one that serves' | 'one that fails' | 'one, fallback not allowed';
const everyLeft: readonly Left[] = ['none', 'one that serves', 'one that fails', 'one, fallback not allowed'];

/** How the second fails where it does. */
const SECOND_FAILURES: readonly Outcome[] = [
  { kind: 'moves', status: 503 },
  { kind: 'rejected', status: 401, code: 'upstream_credential_refused' },
];

export interface Cell {
  readonly name: string;
  readonly row: FailureRow;
  readonly left: Left;
  readonly streaming: boolean;
  /** A guardrail inspects answers. */
  readonly guarded: boolean;
  /** How the second fails; null where it serves or does not exist. */
  readonly second: Outcome | null;
}

export type Who = 'first' | 'second';

/** What must be seen. */
export interface Expected {
  readonly asked: readonly Who[];
  /** Whose answer the client gets, or the code of Relay's own 502. */
  readonly answer:
    | { readonly from: Who; readonly status: number }
    | { readonly from: 'relay'; readonly code: string; readonly about: Who };
  readonly state: 'completed' | 'failed';
  readonly errorCode: string | null;
  readonly waits: boolean;
}

export const cells: readonly Cell[] = [
  ...failureRows.flatMap((row) => cellsOf(row, row.streamingOnly === true ? [true] : [false, true], false)),
  ...failureRows.flatMap((row) => (row.streamingOnly === true ? [] : cellsOf(row, [false], true))),
];

function cellsOf(row: FailureRow, streams: readonly boolean[], guarded: boolean): Cell[] {
  return everyLeft.flatMap((left, index) =>
    streams.map((streaming) => {
      const second = left === 'one that fails' ? otherThan(row.outcome, index + Number(streaming)) : null;
      const how = `${streaming ? 'stream' : 'whole'}${guarded ? ', guarded' : ''}`;
      return { name: `${row.name} · ${how} · left: ${left}`, row, left, streaming, guarded, second };
    }),
  );
}

/** A failure of another status than the first's, so that their answers differ. */
function otherThan(first: Outcome, turn: number): Outcome {
  const statusOf = (outcome: Outcome | undefined) =>
    outcome !== undefined && 'status' in outcome ? outcome.status : null;
  const [one, two] = turn % 2 === 0 ? SECOND_FAILURES : SECOND_FAILURES.toReversed();
  return (statusOf(one) === statusOf(first) ? two : one) ?? first;
}

export function causeOf(outcome: Outcome): string {
  if (outcome.kind === 'lost') return outcome.code;
  return outcome.kind === 'held' ? 'upstream_invalid_response' : `upstream_status_${outcome.status}`;
}

export function expectedOf({ row, left, second }: Cell): Expected {
  const { outcome } = row;
  if (outcome.kind === 'own') return ended(['first'], 'first', outcome);
  const goesOn = left === 'one that serves' || left === 'one that fails';
  if (goesOn && second === null) return served(['first', 'second'], false);
  if (outcome.kind === 'paused')
    return served(goesOn ? ['first', 'second', 'first'] : ['first', 'first'], true);
  if (goesOn && second !== null) return ended(['first', 'second'], 'second', second);
  return ended(['first'], 'first', outcome);
}

function served(asked: readonly Who[], waits: boolean): Expected {
  const from = asked.at(-1) ?? 'first';
  return { asked, answer: { from, status: 200 }, state: 'completed', errorCode: null, waits };
}

function ended(asked: readonly Who[], last: Who, outcome: Outcome): Expected {
  const failed = { asked, state: 'failed', waits: false } as const;
  if (outcome.kind === 'rejected' || outcome.kind === 'lost')
    return { ...failed, answer: { from: 'relay', code: outcome.code, about: last }, errorCode: outcome.code };
  const status = outcome.kind === 'held' ? 200 : outcome.status;
  return { ...failed, answer: { from: last, status }, errorCode: causeOf(outcome) };
}
