import { createHash } from 'node:crypto';
import type { Fault } from './fault.ts';
import { faultLists } from './lists.ts';

export interface Choice {
  /** A list. */
  readonly module: string | null;
  /** Part of a name or of a path. */
  readonly only: string | null;
  /** How many, among those whose tests all need no server; null takes every fault. */
  readonly sample: number | null;
  readonly seed: number;
}

export function chooseFaults(choice: Choice, lists = faultLists): readonly Fault[] {
  const { module, only, sample, seed } = choice;
  const all = Object.entries(lists)
    .filter(([list]) => module === null || list === module)
    .flatMap(([, faults]) => faults)
    .filter(({ name, file }) => only === null || name.includes(only) || file.includes(only));
  if (sample === null) return all;
  const turnOf = ({ name, file }: Fault) =>
    createHash('sha256').update(`${seed}\n${file}\n${name}`).digest('hex');
  return all
    .filter(({ tests, accepted }) => accepted === undefined && tests.every(isUnitTest))
    .map((fault) => ({ fault, turn: turnOf(fault) }))
    .sort((a, b) => (a.turn < b.turn ? -1 : 1))
    .slice(0, sample)
    .map(({ fault }) => fault);
}

function isUnitTest(path: string): boolean {
  return !path.endsWith('.db.test.ts');
}
