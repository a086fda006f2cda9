import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Job, JobResult } from './job.ts';
import { endedChildrenCpuS, watchProcesses } from './process-times.ts';
import { ALL_ENDED, type FailedTest, type TestResult } from './test-result.ts';

const LEAVE_AT_ONCE = new URL('./leave-at-once.ts', import.meta.url).href;
const RESULT_LINES = join(import.meta.dirname, 'result-lines.ts');
/** A process that a job left behind keeps the job's pipes open for ever. */
const LAST_OUTPUT_MS_MAX = 5_000;

export interface JobSetup {
  readonly root: string;
  readonly logDirectory: string;
  readonly env: Readonly<Record<string, string>>;
  /** Also prints what the job prints. */
  readonly isShown: boolean;
}

let cpuBeforeS = endedChildrenCpuS();

/** Runs a job in a process group of its own, and reads its results, its CPU time and its run delay. */
export async function runJob(job: Job, setup: JobSetup): Promise<JobResult> {
  const { root } = setup;
  const startMs = performance.now();
  const directory = mkdtempSync(join(tmpdir(), 'relay-job-'));
  const resultsFile = join(directory, 'results');
  const figuresFile = join(directory, 'figures.json');
  const logFile = join(setup.logDirectory, `${job.name.replaceAll(/[^\w.-]+/g, '-')}.log`);
  const log = createWriteStream(logFile);
  let isSummary = false;
  const say = (text: string) => {
    log.write(text);
    if (!setup.isShown || isSummary) return;
    // The run itself says how many tests failed, and why.
    const [shown = '', ...summary] = text.split(/^ℹ tests \d+$/m);
    isSummary = summary.length > 0;
    process.stdout.write(shown);
  };
  const [program, ...args] = asUser(job, [process.execPath, ...argumentsOf(job, root, resultsFile)]);
  // Set by Node's runner for its children: a runner below a test would take itself for such a child.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(program, args, {
    cwd: root,
    env: { ...env, ...setup.env, ...job.env, RELAY_FIGURES_FILE: figuresFile },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  child.stdout.setEncoding('utf8').on('data', say);
  child.stderr.setEncoding('utf8').on('data', say);
  const processTimes = watchProcesses(child.pid ?? 0);
  const { code, hung } = await ended(child, job.msMax);
  // Another job's process may have ended in the same turn; its time is then counted here.
  const cpuAfterS = endedChildrenCpuS();
  const endedCpuS = cpuAfterS - cpuBeforeS;
  cpuBeforeS = cpuAfterS;
  const sampled = processTimes();
  log.end();
  await once(log, 'close');
  const wallS = (performance.now() - startMs) / 1_000;
  const output = readFileSync(logFile, 'utf8');
  const lines = readIfThere(resultsFile) ?? '';
  const read = job.files.length > 0 ? testsIn(lines, root) : countedTests(job, output);
  const isWhole = job.files.length === 0 || lines.endsWith(`${ALL_ENDED}\n`);
  const tests = [...read, ...brokenJob(job, read, { code, hung, isWhole, output, wallS })];
  const figures = readIfThere(figuresFile);
  rmSync(directory, { recursive: true, force: true });
  return {
    job,
    tests,
    wallS,
    cpuS: Math.max(endedCpuS, sampled.cpuS),
    runDelayS: sampled.runDelayS,
    figures: figures === null ? null : (JSON.parse(figures) as Record<string, unknown>),
    logFile,
  };
}

/** `sudo` replaces PATH by its own unless `env` sets it again. */
function asUser({ isRoot }: Job, command: [string, ...string[]]): [string, ...string[]] {
  if (!isRoot || process.getuid?.() === 0) return command;
  const kept = ['PATH', 'HOME'].map((name) => `${name}=${process.env[name] ?? ''}`);
  return ['sudo', '-n', 'env', ...kept, ...command];
}

function argumentsOf(job: Job, root: string, resultsFile: string): string[] {
  if (job.files.length === 0) return [...job.command];
  return [
    ...['--import', LEAVE_AT_ONCE],
    ...['--test', '--test-isolation=none', '--test-concurrency=1'],
    // A test that failed may have left a server open, which would keep the process for ever.
    '--test-force-exit',
    `--test-timeout=${job.testMsMax}`,
    ...[`--test-reporter=${RESULT_LINES}`, `--test-reporter-destination=${resultsFile}`],
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...job.command,
    // Node takes a regular expression.
    ...(job.testName === null
      ? []
      : [`--test-name-pattern=${job.testName.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}`]),
    ...job.files.map((file) => join(root, file)),
  ];
}

/** Waits for the end of the process and of its output. Kills its group when it takes too long. */
async function ended(child: ChildProcess, msMax: number): Promise<{ code: number | null; hung: boolean }> {
  let hung = false;
  const killGroup = () => {
    if (child.pid !== undefined) killIfThere(-child.pid);
  };
  const deadline = setTimeout(() => {
    hung = true;
    killGroup();
  }, msMax);
  process.once('exit', killGroup);
  const closed = once(child, 'close');
  const [code] = (await once(child, 'exit')) as [number | null];
  await Promise.race([closed, sleep(LAST_OUTPUT_MS_MAX, undefined, { ref: false })]);
  child.stdout?.destroy();
  child.stderr?.destroy();
  killGroup();
  clearTimeout(deadline);
  process.off('exit', killGroup);
  return { code, hung };
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function testsIn(lines: string, root: string): TestResult[] {
  return lines
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as TestResult)
    .map((test) => ({ ...test, file: isAbsolute(test.file) ? relative(root, test.file) : test.file }));
}

/** A command may count its own tests in a line `N passed, N failed`. Otherwise it is one test, which its exit status decides. */
function countedTests(job: Job, output: string): TestResult[] {
  const counted = [...output.matchAll(/^(\d+) passed, (\d+) failed$/gm)].at(-1);
  const file = job.command[0] ?? job.name;
  const passed = (name: string): TestResult => ({ outcome: 'passed', file, name, ms: 0 });
  const [, passes, failures] = counted ?? [];
  if (passes === undefined) return [];
  return [
    ...Array.from({ length: Number(passes) }, (_, index) => passed(`${job.name} ${index + 1}`)),
    ...Array.from({ length: Number(failures) }, (_, index) =>
      failure(file, `${job.name}, failure ${index + 1}`, lastLines(output)),
    ),
  ];
}

interface HowItEnded {
  readonly code: number | null;
  readonly hung: boolean;
  /** False: the process ended before its tests did. */
  readonly isWhole: boolean;
  readonly output: string;
  readonly wallS: number;
}

/** What the job's own results don't say: that it hung, ended early, or ran no test. */
function brokenJob(
  job: Job,
  read: readonly TestResult[],
  { code, hung, isWhole, output, wallS }: HowItEnded,
): TestResult[] {
  const file = job.files[0] ?? job.command[0] ?? job.name;
  if (hung)
    return [failure(file, `${job.name} did not end within ${Math.round(wallS)} s`, lastLines(output))];
  if (job.files.length === 0 && read.length === 0)
    return code === 0
      ? [{ outcome: 'passed', file, name: job.name, ms: Math.round(wallS * 1_000) }]
      : [failure(file, job.name, lastLines(output))];
  const isEmpty = read.length === 0 && job.testName === null;
  if (!isWhole || isEmpty || (code !== 0 && read.every(({ outcome }) => outcome === 'passed')))
    return [failure(file, `${job.name} ended with status ${code}`, lastLines(output))];
  return [];
}

function failure(file: string, name: string, reason: string): FailedTest {
  return { outcome: 'failed', file, name, ms: 0, reason, isJudged: true };
}

const LINES_SHOWN = 40;

function lastLines(output: string): string {
  return output.trimEnd().split('\n').slice(-LINES_SHOWN).join('\n');
}

function readIfThere(path: string): string | null {
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}
