import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PART_NAMES } from '../parts/ratios.ts';
import { rounded } from '../statistics.ts';

/** The contents of `bench/cost.json`, with which `npm run bench -- cost` compares what it measures. */
export interface Committed {
  /** A commit: parts are measured beside its parts, replays beside an engine. */
  readonly base: string;
  /** The committed ratio of each part and each replay, by its name. */
  readonly ratios: Ratios;
}

export type Ratios = Readonly<Record<string, number>>;

export type Measured = Readonly<
  Record<
    string,
    {
      /** To the base, or to an engine. */
      readonly ratio: number;
      /** How much the machine disturbed: a middle measurement of the engine to the quicker ones. */
      readonly spread: number;
    }
  >
>;

export interface ComparedFigure {
  readonly measured: number;
  readonly committed: number;
  /** `measured` to `committed`. */
  readonly change: number;
  readonly verdict: 'ok' | 'dearer' | 'disturbed';
}

/** Whether a figure from fewer measurements is already so low that more would not make it too dear. */
export type IsEnough = (name: string, ratio: number) => boolean;

/** Of a measured figure to the committed one. */
const CHANGE_MAX = 1.1;
/** Of a part, which is measured alone: what its figures differ by is smaller, and so is what a change of one function adds to it. */
const PART_CHANGE_MAX = 1.06;
/** How much of what a figure may grow by the first measurements may use up; with more, further ones decide. */
const CLEAR_SHARE = 0.4;
/** Where the engine itself differs by more from slice to slice, a tenth cannot be seen. */
const SPREAD_MAX = 1.3;
const FILE = join(import.meta.dirname, '../../cost.json');

export function readCommitted(): Committed {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Committed;
}

export function writeCommitted({ base, ratios }: Committed): void {
  const figures = Object.entries(ratios).map(([name, ratio]) => [name, rounded(ratio, 3)]);
  writeFileSync(FILE, `${JSON.stringify({ base, ratios: Object.fromEntries(figures) }, null, 2)}\n`);
}

/** A figure that was not measured is dearer. */
export function compareFigures(measured: Measured, committed: Ratios): Record<string, ComparedFigure> {
  const compared: Record<string, ComparedFigure> = {};
  for (const [name, before] of Object.entries(committed)) {
    const { ratio, spread } = measured[name] ?? { ratio: Number.NaN, spread: 1 };
    const change = rounded(ratio / before, 3);
    const verdict = change <= changeMaxOf(name) ? 'ok' : spread > SPREAD_MAX ? 'disturbed' : 'dearer';
    compared[name] = { measured: rounded(ratio, 3), committed: before, change, verdict };
  }
  return compared;
}

/** Whether a figure changed by so little that further measurements would not make it too dear. */
export function isClearlyKept(name: string, change: number): boolean {
  return change <= 1 + (changeMaxOf(name) - 1) * CLEAR_SHARE;
}

function changeMaxOf(name: string): number {
  return PART_NAMES.includes(name) ? PART_CHANGE_MAX : CHANGE_MAX;
}

export function namesOf(
  compared: Readonly<Record<string, ComparedFigure>>,
  verdict: ComparedFigure['verdict'],
): string[] {
  return Object.keys(compared).filter((name) => compared[name]?.verdict === verdict);
}
