import { createRandom } from '@relay/testbed/random';
import { type Mode, type ModeName, modes } from '../harness/mode.ts';
import type { Expectation, FaultRow } from './expectation.ts';
import { rowsAnswers } from './rows-answers.ts';
import { rowsBeforeAnswer } from './rows-before-answer.ts';
import { rowsDeaths } from './rows-deaths.ts';
import { rowsStatuses } from './rows-statuses.ts';
import { rowsUsage } from './rows-usage.ts';

export const faultRows: readonly FaultRow[] = [
  ...rowsBeforeAnswer,
  ...rowsStatuses,
  ...rowsAnswers,
  ...rowsUsage,
  ...rowsDeaths,
];

/** Which candidates are left when the first fails. */
type Left = 'one that serves' | 'one, fallback not allowed' | 'one that fails' | 'none';
export type Who = 'first' | 'second';

export interface Cell {
  readonly row: FaultRow;
  readonly mode: Mode;
  readonly expectation: Expectation;
  readonly left: Left;
  /** A guardrail inspects answers. */
  readonly guarded: boolean;
}

/** One attempt, and how it ends. */
export interface Step {
  readonly who: Who;
  readonly expectation: Expectation;
}

const SERVED: Expectation = { kind: 'answered' };
const UNAVAILABLE: Expectation = { kind: 'refused', status: 503 };
const CREDENTIAL_REFUSED: Expectation = {
  kind: 'rejected',
  status: 401,
  code: 'upstream_credential_refused',
};

const inEveryMode: readonly Left[] = ['one that serves', 'one, fallback not allowed'];
const REPLACEABLE: readonly Expectation['kind'][] = [
  'lost',
  'refused',
  'paused',
  'rejected',
  'refused stream',
  'reported error',
];

/** Every row in every mode it speaks of, by the candidates that are left. Failures of chats have more of those. */
export function allCells(): Cell[] {
  return faultRows.flatMap((row) =>
    (Object.entries(row.expect) as [ModeName, Expectation][]).flatMap(([modeName, expectation]) => {
      const cell = { row, mode: modes[modeName], expectation };
      const fails = expectation.kind === 'passed' || REPLACEABLE.includes(expectation.kind);
      const more: readonly Left[] =
        fails && (modeName === 'chat' || modeName === 'chat stream') ? ['one that fails', 'none'] : [];
      const guarded = fails && modeName === 'chat' ? inEveryMode : [];
      return [
        ...[...inEveryMode, ...more].map((left) => ({ ...cell, left, guarded: false })),
        ...guarded.map((left) => ({ ...cell, left, guarded: true })),
      ];
    }),
  );
}

/** Every row in every mode, by one of the candidates that may be left, which the seed chooses. */
export function sampleOf(cells: readonly Cell[], seed: number): Cell[] {
  const random = createRandom(seed);
  const alike = Map.groupBy(cells, ({ row, mode, guarded }) => `${row.name} · ${mode.name} · ${guarded}`);
  return [...alike.values()].map((each) => random.pick(each));
}

/**
 * The cell of a stream that fails without content after Relay opened it, which depends on time where no other candidate is left:
 * it ends with an error of its protocol.
 */
export function openedCell({ row, ...cell }: Cell): Cell {
  if (cell.expectation.kind !== 'lost') return { ...cell, row, expectation: { kind: 'errored stream' } };
  const isClean = row.fault.endAfterFrames !== undefined || row.fault.emptyBody === true;
  const code = isClean ? 'ended_early' : cell.expectation.code;
  const usage = { source: 'estimated', outputMin: 0 } as const;
  return { ...cell, row, expectation: { kind: 'interrupted', code, usage } };
}

export function mayOpen({ mode, left, expectation: { kind } }: Cell): boolean {
  const isLast = left === 'none' || left === 'one, fallback not allowed';
  return mode.streaming && isLast && (kind === 'lost' || kind === 'refused stream');
}

/** The attempts of the cell, in order. */
export function stepsOf({ expectation, left, mode }: Cell): readonly [Step, ...Step[]] {
  const first: Step = { who: 'first', expectation };
  const goesOn = left === 'one that serves' || left === 'one that fails';
  const falls = goesOn && REPLACEABLE.includes(expectation.kind);
  if (falls && left === 'one that serves') return [first, { who: 'second', expectation: SERVED }];
  const failed: Step[] = falls ? [{ who: 'second', expectation: secondFailure(expectation, mode) }] : [];
  // After its pause the first is asked again.
  const again: Step[] = expectation.kind === 'paused' ? [{ who: 'first', expectation: SERVED }] : [];
  return [first, ...failed, ...again];
}

export function lastOf(steps: readonly [Step, ...Step[]]): Step {
  return steps.at(-1) ?? steps[0];
}

export function fallbacksOf(steps: readonly Step[]): number {
  return steps.filter(({ who }, index) => index > 0 && who !== steps[index - 1]?.who).length;
}

/** A failure of another status than the first's, so that their answers differ. */
function secondFailure(first: Expectation, { streaming }: Mode): Expectation {
  const status = 'status' in first ? first.status : null;
  if (status === 503) return CREDENTIAL_REFUSED;
  return status === 401 || streaming ? UNAVAILABLE : CREDENTIAL_REFUSED;
}

export function nameOf(cell: Cell): string {
  const { row, mode, left, guarded } = cell;
  const steps = stepsOf(cell).map(({ who, expectation }) => `${who} ${expectation.kind}`);
  return `${row.name} · ${mode.name}${guarded ? ', guarded' : ''} · left: ${left} → ${steps.join(', ')}`;
}
