import { parseArgs } from 'node:util';
import { buildPackage } from './checkouts/build-package.ts';
import { say } from './command-line.ts';
import {
  type ComparedFigure,
  compareFigures,
  isClearlyKept,
  type Measured,
  namesOf,
  type Ratios,
  readCommitted,
  writeCommitted,
} from './cost/figures.ts';
import { FIGURES, measureCost } from './cost/measure-cost.ts';
import { ROOT } from './gateways/gateway.ts';
import { pinToLoadCore } from './pinned-process.ts';
import { median } from './statistics.ts';

/** Two measurements agree within a few per cent, so one alone would be off by as much. */
const WRITTEN_FROM = 3;

export const COST_USAGE = `cost: CPU of requests and of their parts; fails if one is about a tenth dearer than in bench/cost.json
  --only NAME      ${FIGURES.join(', ')}; may be repeated
  --base COMMIT    measure parts beside those of another commit than bench/cost.json names
  --write          write bench/cost.json: the median of ${WRITTEN_FROM} measurements
  --no-build       measure the package in dist without running npm run build first`;

export interface CostFigures {
  /** Names of those that are too dear; the run then fails. */
  readonly dearer: readonly string[];
  /** Names of those that seem too dear on a machine that is too busy to tell. */
  readonly disturbed: readonly string[];
  readonly figures: Readonly<Record<string, ComparedFigure>>;
}

export async function cost(args: readonly string[]): Promise<CostFigures> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true, default: [...FIGURES] },
      base: { type: 'string' },
      write: { type: 'boolean', default: false },
      'no-build': { type: 'boolean', default: false },
    },
  });
  const names = FIGURES.filter((name) => values.only.includes(name));
  if (names.length !== new Set(values.only).size)
    throw new Error(`--only must be one of ${FIGURES.join(', ')}`);
  pinToLoadCore();
  if (!values['no-build']) await buildPackage(ROOT);
  const committed = readCommitted();
  const base = values.base ?? committed.base;
  if (values.write) {
    const ratios = { ...committed.ratios, ...(await measureOften(names, base)) };
    writeCommitted({ base, ratios });
  }
  const figures = values.write ? {} : await compare(names, base, committed.ratios);
  const dearer = namesOf(figures, 'dearer');
  if (dearer.length > 0) process.exitCode = 1;
  return { dearer, disturbed: namesOf(figures, 'disturbed'), figures };
}

/** What is too dear is measured once more, in new processes and twice as often; that decides. */
async function compare(
  names: readonly string[],
  base: string,
  committed: Ratios,
): Promise<CostFigures['figures']> {
  const before = Object.fromEntries(names.map((name) => [name, committed[name] ?? Number.NaN]));
  const isEnough = (name: string, ratio: number) => isClearlyKept(name, ratio / (before[name] ?? Number.NaN));
  const first = await measureCost(names, base, { isEnough });
  const figures = compareFigures(first, before);
  const dearer = names.filter((name) => figures[name]?.verdict !== 'ok');
  if (dearer.length === 0) return figures;
  say(`again, because it was dearer: ${dearer.join(', ')}`);
  return compareFigures({ ...first, ...(await measureCost(dearer, base, { effort: 2 })) }, before);
}

async function measureOften(names: readonly string[], base: string): Promise<Ratios> {
  const measured: Measured[] = [];
  while (measured.length < WRITTEN_FROM) measured.push(await measureCost(names, base));
  return Object.fromEntries(
    names.map((name) => [name, median(measured.map((each) => each[name]?.ratio ?? Number.NaN))]),
  );
}
