// Runs the suites named on the command line and closes with one line that counts every test they ran.
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { STOLEN_SHARE_BORNE, untilCalm, watchStolenTime } from '@relay/testbed';
import { listFiles } from './check/source-files.ts';
import { judge, type TestEvent } from './run-tests/count-results.ts';
import { longestFirst, type SuiteName, selectFiles, suiteNames } from './run-tests/select-files.ts';

const USAGE = `usage: run-tests.ts [unit] [db] [embedded] [FILTER…]
Runs the tests of the named suites (default: unit db) whose path contains one of the filters.
  --timeout-ms=N   time limit for a single test (default 60000)
  --grace-ms=N     how much longer all files may be silent before one counts as hung (default 270000:
                   tests that compile or lint a copy of the tree take up to 300 s)
  --calm-ms=N      how long to wait while the machine's host gives its CPU to other guests (default 60000)
  --root=DIR       the tree to test (default: this repository)
`;

const CONCURRENCY = 2;
const LEAVE_AT_ONCE = new URL('./run-tests/leave-at-once.ts', import.meta.url).href;

interface Bounds {
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly calmMs: number;
}

interface Totals {
  passed: number;
  failed: number;
  readonly passedByFile: Map<string, number>;
  /** What failed: the file and the test. */
  readonly failures: { readonly file: string; readonly test: string }[];
}

/** With more than these something is broken, and another run would only take its time. */
const REPEATED_MAX = 8;
/** How often such files run again. The second time is for a machine whose host took its processor during the first. */
const REPEATS_MAX = 2;

/**
 * Files that failed run once more, one at a time: a neighbour, or the machine, may have taken the time that a test counts on.
 * What fails again has failed. What passes then is listed, because it may also be a race in the product that shows rarely.
 */
async function runFiles(root: string, files: readonly string[], bounds: Bounds): Promise<Totals> {
  let totals = await runOnce(root, files, bounds, CONCURRENCY);
  for (let repeats = 1; repeats <= REPEATS_MAX; repeats += 1) {
    const failed = [...new Set(totals.failures.map(({ file }) => file))];
    if (failed.length === 0 || failed.length > REPEATED_MAX || files.length === 1 || failed.includes(''))
      break;
    process.stdout.write(`once more: ${failed.join(', ')}\n`);
    const stolenSince = watchStolenTime();
    totals = withAnotherRun(totals, failed, await runOnce(root, failed, bounds, 1));
    if (stolenSince() < STOLEN_SHARE_BORNE) break;
    if (totals.failed > 0) await untilCalm(bounds.calmMs);
  }
  return totals;
}

/** The results, with those of the files that ran again in place of their first ones. */
function withAnotherRun(before: Totals, again: readonly string[], after: Totals): Totals {
  for (const { file, test } of before.failures)
    if (!after.failures.some((each) => each.file === file))
      process.stdout.write(`unsteady: ${file}: ${test}\n`);
  const replaced = again.reduce((sum, file) => sum + (before.passedByFile.get(file) ?? 0), 0);
  const passedByFile = new Map([...before.passedByFile, ...after.passedByFile]);
  return { ...after, passed: before.passed - replaced + after.passed, passedByFile };
}

async function runOnce(
  root: string,
  files: readonly string[],
  bounds: Bounds,
  concurrency: number,
): Promise<Totals> {
  const totals: Totals = { passed: 0, failed: 0, passedByFile: new Map(), failures: [] };
  const giveUp = new AbortController();
  const silence = setTimeout(() => {
    process.stdout.write('  a test file has been silent for too long; it may have left a server open\n');
    giveUp.abort();
  }, bounds.timeoutMs + bounds.graceMs);
  const stream = run({
    files: files.map((path) => join(root, path)),
    cwd: root,
    concurrency,
    timeout: bounds.timeoutMs,
    signal: giveUp.signal,
    execArgv: ['--import', LEAVE_AT_ONCE],
  });
  const { passedByFile } = totals;
  for await (const item of stream) {
    silence.refresh();
    const event = item as TestEvent;
    const file = event.data.file === undefined ? '' : relative(root, event.data.file);
    if (event.type === 'test:stderr') process.stdout.write(event.data.message ?? '');
    if (event.type === 'test:summary' && file !== '') {
      const seconds = ((event.data.duration_ms ?? 0) / 1_000).toFixed(1);
      process.stdout.write(`  ${file}: ${passedByFile.get(file) ?? 0} passed in ${seconds} s\n`);
    }
    const verdict = judge(event);
    if (verdict.outcome === 'passed') {
      totals.passed += 1;
      passedByFile.set(file, (passedByFile.get(file) ?? 0) + 1);
    }
    if (verdict.outcome === 'failed') {
      totals.failed += 1;
      totals.failures.push({ file, test: event.data.name ?? '' });
      process.stdout.write(`  FAILED ${file}: ${event.data.name}\n${indent(verdict.reason)}\n`);
    }
  }
  clearTimeout(silence);
  return totals;
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '    ');
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(USAGE);
    return 0;
  }
  const option = (name: string): string | undefined =>
    args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
  const root = option('root') ?? join(import.meta.dirname, '../..');
  const bounds = {
    timeoutMs: Number(option('timeout-ms') ?? 60_000),
    graceMs: Number(option('grace-ms') ?? 270_000),
    calmMs: Number(option('calm-ms') ?? 60_000),
  };
  const words = args.filter((arg) => !arg.startsWith('--'));
  const named = suiteNames.filter((suite) => words.includes(suite));
  const suites: readonly SuiteName[] = named.length === 0 ? ['unit', 'db'] : named;
  const filters = words.filter((word) => !suiteNames.some((suite) => suite === word));

  const paths = listFiles(root);
  const sum = { passed: 0, failed: 0 };
  for (const store of ['', 'embedded']) {
    const ofStore = suites.filter((suite) => (suite === 'embedded') === (store === 'embedded'));
    const files = longestFirst(ofStore.flatMap((suite) => selectFiles(paths, suite, filters)));
    if (ofStore.length > 0) process.stdout.write(`${ofStore.join(', ')}: ${files.length} files\n`);
    if (files.length === 0) continue;
    process.env['TEST_STORE'] = store;
    const totals = await runFiles(root, files, bounds);
    sum.passed += totals.passed;
    sum.failed += totals.failed;
  }
  if (sum.passed + sum.failed === 0) process.stdout.write('no test ran, which counts as a failure\n');
  process.stdout.write(`${sum.passed} passed, ${sum.failed} failed\n`);
  return sum.failed === 0 && sum.passed > 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
