// `npm run faults`: plants one fault at a time in a copy of the tree and runs the tests near it, which must fail.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCommand, wholeNumber } from '@relay/testbed';
import { createRandom, testSeed } from '@relay/testbed/random';
import { type PlantedCopy, plantedCopy } from './check/planted-copy.ts';
import { compileFaults } from './faults/compile-faults.ts';
import { type Fault, plantIn } from './faults/fault.ts';
import { faultLists } from './faults/lists.ts';
import { type NearResult, runNear } from './faults/run-near.ts';
import { allJobs } from './tests/jobs.ts';

const USAGE = `usage: npm run faults [-- --module M] [--only TEXT] [--tier run] [--sample N] [--list]
Plants each fault from tools/src/faults/lists in a copy of the tree and runs the tests near it. A fault that no test
catches survives. The last line is {"faults","caught","survived"}; fails if one survives without a listed reason.
  --module M   one list: ${Object.keys(faultLists).join(', ')}
  --only TEXT  faults whose name or path contains it
  --tier run   only test files that .ci/run runs; npm test -- --tier run --list names their jobs
  --sample N   N of them, which RELAY_TEST_SEED chooses, and those of whose tests .ci/run runs only some
  --list       runs nothing: names the faults of whose tests .ci/run runs none or some, and counts them
`;

const ROOT = join(import.meta.dirname, '../..');
const AT_A_TIME = 2;
const STEADY_MS_MAX = 300_000;
const HANGS_AFTER_MS = 30_000;

interface Verdict {
  readonly fault: Fault;
  readonly outcome: 'caught' | 'survived' | 'unloaded';
  readonly by: string;
}

/** Works through the items with a copy for each worker. */
async function inCopies<T, R>(
  items: readonly T[],
  copies: readonly PlantedCopy[],
  work: (item: T, copy: PlantedCopy) => Promise<R>,
): Promise<R[]> {
  const waiting = [...items];
  const results: R[] = [];
  await Promise.all(
    copies.map(async (copy) => {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift())
        results.push(await work(item, copy));
    }),
  );
  return results;
}

/**
 * The test files that pass without a fault, with the time that each may take: one that fails anyway proves nothing, and a
 * busy machine must not make one look as if it hung.
 */
async function steadyFiles(
  faults: readonly Fault[],
  copies: readonly PlantedCopy[],
): Promise<ReadonlyMap<string, number>> {
  const files = [...new Set(faults.flatMap(({ tests }) => tests))];
  const steady = new Map<string, number>();
  await inCopies(files, copies, async (file, copy) => {
    const beganMs = performance.now();
    const { outcome } = await runNear(copy.root, file, STEADY_MS_MAX);
    if (outcome === 'passed') steady.set(file, Math.ceil(HANGS_AFTER_MS + 5 * (performance.now() - beganMs)));
    else process.stdout.write(`skipped, fails without a fault: ${file}\n`);
  });
  return steady;
}

async function judgeFault(
  fault: Fault,
  copy: PlantedCopy,
  steady: ReadonlyMap<string, number>,
): Promise<Verdict> {
  const text = copy.read(fault.file);
  const planted = plantIn(text, fault);
  if (planted === null) throw new Error(`fault '${fault.name}' no longer applies to ${fault.file}`);
  copy.write(fault.file, planted);
  let result: NearResult = { outcome: 'passed' };
  let by = '';
  for (const file of fault.tests) {
    const msMax = steady.get(file);
    if (msMax === undefined) continue;
    result = await runNear(copy.root, file, msMax);
    if (result.outcome === 'passed') continue;
    by = `${file}: ${result.by}`;
    break;
  }
  copy.write(fault.file, text);
  const outcomes = { passed: 'survived', failed: 'caught', unloaded: 'unloaded' } as const;
  return { fault, outcome: outcomes[result.outcome], by };
}

function say({ fault, outcome, by }: Verdict): void {
  const reason = outcome !== 'caught' && fault.accepted !== undefined ? `accepted: ${fault.accepted}` : by;
  const word = outcome === 'caught' ? 'caught  ' : outcome.toUpperCase();
  process.stdout.write(
    `${word} ${fault.file}: ${fault.name}${reason === '' ? '' : `\n         ${reason}`}\n`,
  );
}

async function main(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const;
  const options = { module: text, only: text, tier: text, sample: text, list: { type: 'boolean' } } as const;
  const { values } = parseArgs({ args: [...args], options });
  const { module = null, only = null, tier = null, sample = null, list = false } = values;
  if (tier !== null && tier !== 'run') throw new Error(`no tier is named "${tier}"\n${USAGE}`);
  const inRun = filesInRun();
  const named = Object.entries(faultLists)
    .filter(([name]) => module === null || name === module)
    .flatMap(([, listed]) => listed)
    .filter(({ name, file }) => only === null || name.includes(only) || file.includes(only));
  if (list) {
    sayTiers(named, inRun);
    return 0;
  }
  const chosen = sample === null ? named : sampleOf(named, wholeNumber('--sample', sample), inRun);
  const faults = chosen.map((fault) =>
    tier === null ? fault : { ...fault, tests: fault.tests.filter((test) => inRun.has(test)) },
  );
  process.stdout.write(`${faults.length} faults\n`);
  using first = plantedCopy();
  // Every fault runs the same files again.
  process.env['NODE_COMPILE_CACHE'] ??= join(first.root, '.cache/compiled');
  if (!(await compileFaults(faults, first))) return 1;
  using second = plantedCopy();
  const copies = [first, second].slice(0, AT_A_TIME);
  const steady = await steadyFiles(faults, copies);
  const verdicts = await inCopies(faults, copies, async (fault, copy) => {
    const verdict = await judgeFault(fault, copy, steady);
    say(verdict);
    return verdict;
  });
  const survivors = verdicts.filter(({ outcome }) => outcome !== 'caught');
  if (survivors.length > 0) process.stdout.write('\nnot caught:\n');
  for (const verdict of survivors) say(verdict);
  const caught = verdicts.length - survivors.length;
  process.stdout.write(`${JSON.stringify({ faults: faults.length, caught, survived: survivors.length })}\n`);
  const isAccepted = survivors.every(({ fault }) => fault.accepted !== undefined);
  return isAccepted && caught > 0 ? 0 : 1;
}

type InRun = 'all' | 'some' | 'none';

/** How many of a fault's tests `.ci/run` runs. */
function inRunOf({ tests }: Fault, inRun: ReadonlySet<string>): InRun {
  const count = tests.filter((test) => inRun.has(test)).length;
  return count === tests.length ? 'all' : count === 0 ? 'none' : 'some';
}

function sayTiers(faults: readonly Fault[], inRun: ReadonlySet<string>): void {
  const counts: Record<InRun, number> = { all: 0, some: 0, none: 0 };
  for (const fault of faults) {
    const which = inRunOf(fault, inRun);
    counts[which] += 1;
    const left = fault.tests.filter((test) => !inRun.has(test));
    if (which !== 'all')
      process.stdout.write(`${which} ${fault.file}: ${fault.name}: not ${left.join(', ')}\n`);
  }
  process.stdout.write(`${JSON.stringify({ faults: faults.length, ...counts })}\n`);
}

/** So many, in the order of the lists, with all that `.ci/run` could see less of. */
function sampleOf(faults: readonly Fault[], size: number, inRun: ReadonlySet<string>): Fault[] {
  const random = createRandom(testSeed());
  const drawn = new Set(
    faults
      .map((fault) => ({ fault, rank: random.next() }))
      .sort((a, b) => a.rank - b.rank)
      .slice(0, size)
      .map(({ fault }) => fault),
  );
  return faults.filter((fault) => drawn.has(fault) || inRunOf(fault, inRun) !== 'all');
}

/** The test files that `.ci/run` runs. */
function filesInRun(): ReadonlySet<string> {
  const jobs = allJobs(ROOT, { onPackage: true, isLong: false });
  return new Set(jobs.filter(({ tier }) => tier === 'run').flatMap(({ files }) => files));
}

await runCommand(USAGE, main);
