import { failuresOf, type Job, type JobResult } from './job.ts';
import type { NamedTest, Verdict } from './judge-run.ts';
import type { Report } from './reports.ts';
import type { FailedTest } from './test-result.ts';

/** Longer reasons are in the log only. */
const REASON_CHARS_MAX = 4_000;

export function sayResult(result: JobResult): string {
  const { job, tests, wallS, cpuS, runDelayS } = result;
  const failures = failuresOf(result);
  const reasons = failures.map(
    (test) =>
      `  FAILED ${test.file}: ${test.name}\n${indent(test.reason.slice(0, REASON_CHARS_MAX))}\n${sayAgain(job, test)}`,
  );
  const times = `${wallS.toFixed(1)} s, CPU ${cpuS.toFixed(1)} s, run delay ${runDelayS.toFixed(1)} s`;
  const counts = `${tests.length - failures.length} passed, ${failures.length} failed`;
  return `${reasons.join('')}== ${job.name}: ${counts} in ${times}\n`;
}

export function sayVerdict(
  verdict: Verdict,
  { again, notRun }: { readonly again: readonly NamedTest[]; readonly notRun: readonly Job[] },
): string {
  const lines = (word: string, tests: readonly NamedTest[]) =>
    tests.map(({ job, file, name }) => `${word}: ${job}: ${file}: ${name}\n`);
  return [
    ...lines('unsteady', verdict.unsteady),
    ...lines('unsteady for the second time', again),
    ...lines('not judged', verdict.notJudged),
    ...lines('failed', verdict.failed),
    ...notRun.map(({ name }) => `failed: ${name} was not run, because a job that it needs failed\n`),
  ].join('');
}

/** The command that runs a failed test alone, or the checks of its job. */
function sayAgain({ name: job, files }: Job, { file, name }: FailedTest): string {
  const [suite = '', ...rest] = job.split(' ');
  const words =
    suite === 'unit' || suite === 'db'
      ? [file]
      : [suite, /([^/]+)\.e2e\.ts$/.exec(file)?.[1] ?? (suite === 'embedded' ? file : rest.join(' '))];
  // A job that broke has no test of that name.
  const isTest = files.length > 0 && !name.startsWith(job);
  const quoted = /["$`\\]/.test(name) ? `'${name.replaceAll("'", "'\\''")}'` : `"${name}"`;
  return `  again: npm test -- ${words.join(' ')}${isTest ? ` -t ${quoted}` : ''}\n`;
}

export function shortReport({
  wall_s,
  cpu_s,
  stolen_s,
  idle_s,
  unsteady,
  not_judged,
}: Report): Record<string, number> {
  return { wall_s, cpu_s, stolen_s, idle_s, unsteady: unsteady.length, not_judged: not_judged.length };
}

/** What a single suite measured, or what all stories saw; null if the run is of other jobs. */
export function figuresOf(results: readonly JobResult[]): Readonly<Record<string, unknown>> | null {
  const tested = results.filter(({ job }) => !job.name.startsWith('build '));
  const [first] = tested;
  if (tested.length === 1) return first?.figures ?? null;
  if (!tested.every(({ job }) => job.name.startsWith('e2e '))) return null;
  const sums: Record<string, number> = {};
  for (const { figures } of tested)
    for (const [name, value] of Object.entries(figures ?? {})) sums[name] = (sums[name] ?? 0) + Number(value);
  return sums;
}

/** A line for each job, the dearest first. */
export function tableOf({ jobs }: Report): string {
  const row = (name: string, cells: readonly (string | number)[]) =>
    `${name.padEnd(44)}${cells.map((cell) => String(cell).padStart(12)).join('')}\n`;
  const rows = Object.entries(jobs)
    .sort(([, a], [, b]) => b.cpu_s - a.cpu_s)
    .map(([name, job]) => row(name, [job.cpu_s, job.wall_s, job.run_delay_s, job.passed, job.failed]));
  return row('job', ['CPU s', 'wall s', 'run delay s', 'passed', 'failed']) + rows.join('');
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '    ');
}
