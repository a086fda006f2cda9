import { type ModeName, modes } from '../harness/mode.ts';
import type { FaultRow } from './expectation.ts';
import { rowsAnswers } from './rows-answers.ts';
import { rowsBeforeAnswer } from './rows-before-answer.ts';
import { rowsDeaths } from './rows-deaths.ts';
import type { Cell } from './run-cell.ts';

export const faultRows: readonly FaultRow[] = [...rowsBeforeAnswer, ...rowsAnswers, ...rowsDeaths];

/** Every row in every mode it speaks of, with fallback and without. */
export function allCells(): Cell[] {
  return faultRows.flatMap((row) =>
    (Object.entries(row.expect) as [ModeName, Cell['expectation']][]).flatMap(([modeName, expectation]) =>
      [true, false].map((fallback) => ({ row, mode: modes[modeName], fallback, expectation })),
    ),
  );
}
