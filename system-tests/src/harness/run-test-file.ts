import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { STOLEN_SHARE_BORNE, untilCalm, watchStolenTime } from '@relay/testbed';

export interface TestFile {
  readonly name: string;
  readonly path: string;
  readonly testMsMax: number;
  /** What it prints is shown as it comes, or kept until it is over where another runs beside it. */
  readonly isAlone: boolean;
  /** Whether most of its bounds are on time, which a machine without time of its own cannot keep. */
  readonly holdsTimes: boolean;
}

export interface TestFileResult {
  readonly file: TestFile;
  readonly passed: number;
  readonly failed: number;
  /** Names of the tests and groups that failed. */
  readonly failures: readonly string[];
  /** Which share of the processor's time the machine's host gave to others meanwhile. */
  readonly stolenShare: number;
  /** What it reported; see figures.ts. */
  readonly figures: Readonly<Record<string, unknown>> | null;
}

/** With more than these something is broken, and another run would only take its time. */
const REPEATED_MAX = 8;
/** How often such a file runs again. The second time is for a machine that had no time of its own during the first. */
const REPEATS_MAX = 2;
const CALM_MS_MAX = 60_000;

/** A file that takes longer has hung: every suite is done in less than half of this on two cores. */
const FILE_MS_MAX = 15 * 60_000;
/** How long what a file printed last may take to arrive. A process that it left behind keeps the pipe open for ever. */
const LAST_OUTPUT_MS_MAX = 5_000;

/** Runs the tests of one file in a process of their own, and says how they went. */
export async function runTestFile(file: TestFile): Promise<TestFileResult> {
  const { name, path, testMsMax, isAlone } = file;
  const startMs = performance.now();
  const stolenSince = watchStolenTime();
  const directory = mkdtempSync(join(tmpdir(), 'relay-figures-'));
  const figuresFile = join(directory, 'figures.json');
  const args = [
    '--test',
    '--test-concurrency=1',
    // A test that failed may have left a server open, which would keep the process for ever.
    '--test-force-exit',
    `--test-timeout=${testMsMax}`,
    '--test-reporter=spec',
    path,
  ];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, RELAY_FIGURES_FILE: figuresFile },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = `\n== ${name}\n`;
  if (isAlone) process.stdout.write(output);
  const take = (chunk: Buffer) => {
    output += chunk.toString();
    if (isAlone) process.stdout.write(chunk);
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const code = await ended(child, take);
  if (!isAlone) process.stdout.write(output);
  const passed = countOf(output, 'pass');
  const counted = countOf(output, 'fail') + countOf(output, 'cancelled');
  const failed = counted === 0 && (code !== 0 || passed === 0) ? 1 : counted;
  const figures = existsSync(figuresFile)
    ? (JSON.parse(readFileSync(figuresFile, 'utf8')) as Record<string, unknown>)
    : null;
  rmSync(directory, { recursive: true, force: true });
  const seconds = ((performance.now() - startMs) / 1_000).toFixed(1);
  const stolenShare = stolenSince();
  const taken = stolenShare < 0.01 ? '' : `; ${Math.round(stolenShare * 100)} % of the processor was taken`;
  process.stdout.write(`== ${name}: ${passed} passed, ${failed} failed in ${seconds} s${taken}\n`);
  if (figures !== null) process.stdout.write(`${JSON.stringify(figures)}\n`);
  const failures = failed === 0 ? [] : failuresIn(output);
  return { file, passed, failed, failures, stolenShare, figures };
}

/** Waits for the process and what it printed. Ends it, and all that it has started, when it takes too long. */
async function ended(child: ChildProcess, say: (text: Buffer) => void): Promise<number | null> {
  const killGroup = () => {
    if (child.pid !== undefined) killIfThere(-child.pid);
  };
  const deadline = setTimeout(() => {
    say(Buffer.from(`✖ it did not end within ${FILE_MS_MAX / 60_000} minutes\n`));
    killGroup();
  }, FILE_MS_MAX);
  // In a group of its own it does not hear what the terminal says to this one.
  const leave = () => process.exit(1);
  process.once('exit', killGroup).once('SIGINT', leave).once('SIGTERM', leave);
  const closed = once(child, 'close');
  const [code] = (await once(child, 'exit')) as [number | null];
  await Promise.race([closed, sleep(LAST_OUTPUT_MS_MAX, undefined, { ref: false })]);
  child.stdout?.destroy();
  child.stderr?.destroy();
  killGroup();
  clearTimeout(deadline);
  process.off('exit', killGroup).off('SIGINT', leave).off('SIGTERM', leave);
  return code;
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/** Runs them in order, at most two concurrently. */
export async function runTwoAtOnce(files: readonly TestFile[]): Promise<TestFileResult[]> {
  const results: TestFileResult[] = [];
  const waiting = [...files];
  const runNext = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift())
      results.push(await runTestFile(file));
  };
  await Promise.all([runNext(), runNext()]);
  return results;
}

/**
 * Files that failed run once more, by themselves: a neighbour, or the machine, may have taken the time that a test counts on.
 * What fails again has failed. What passes then is listed, because it may also be a race in the product that shows rarely.
 * Bounds on time that failed on a machine whose processor was taken, each of three times, are listed as not judged.
 */
export async function repeatFailed(results: readonly TestFileResult[]): Promise<TestFileResult[]> {
  const failed = results.filter((each) => each.failed > 0);
  const repeated = results.length > 1 && failed.length <= REPEATED_MAX ? failed : [];
  const final = results.filter((each) => !repeated.includes(each));
  const notes: string[] = [];
  for (const before of repeated) {
    const runs = [before, ...(await runOnceMore(before.file))];
    const last = runs.at(-1) ?? before;
    const isJudged =
      last.failed === 0 ||
      !before.file.holdsTimes ||
      runs.some(({ stolenShare }) => stolenShare < STOLEN_SHARE_BORNE);
    const verdict = isJudged ? 'unsteady' : 'not judged, because the processor was taken';
    if (last.failed === 0 || !isJudged)
      notes.push(...before.failures.map((test) => `${verdict}: ${before.file.name}: ${test}`));
    final.push(isJudged ? last : { ...last, failed: 0, failures: [] });
  }
  for (const { file, failures } of final)
    notes.push(...failures.map((test) => `failed: ${file.name}: ${test}`));
  for (const note of notes) process.stdout.write(`${note}\n`);
  return final;
}

async function runOnceMore(file: TestFile): Promise<TestFileResult[]> {
  const runs: TestFileResult[] = [];
  for (let repeats = 1; repeats <= REPEATS_MAX; repeats += 1) {
    await untilCalm(CALM_MS_MAX);
    const result = await runTestFile({ ...file, isAlone: true });
    runs.push(result);
    if (result.failed === 0 || result.stolenShare < STOLEN_SHARE_BORNE) break;
  }
  return runs;
}

function failuresIn(output: string): string[] {
  const names = [...output.matchAll(/^\s*✖ (.+?)(?: \([\d.]+ms\))?$/gm)].map((match) => match[1] ?? '');
  return [...new Set(names)].filter((name) => name !== 'failing tests:');
}

function countOf(output: string, word: string): number {
  return Number(new RegExp(`^ℹ ${word} (\\d+)$`, 'm').exec(output)?.[1] ?? 0);
}

/** A suite's main file, in the suite's own folder. */
export function suiteFile(name: string): string {
  return join(import.meta.dirname, '..', name, `${name}.suite.ts`);
}
