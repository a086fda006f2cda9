import { availableParallelism } from 'node:os';
import { relative } from 'node:path';
import { startPostgres } from '@relay/testbed';
import { failuresOf, type Job, type JobResult } from './job.ts';
import { judgeRun, type NamedTest } from './judge-run.ts';
import { endedChildrenCpuS } from './process-times.ts';
import { openReportFolder, reportOf, tableOf, unsteadyAgain, weightsOf, writeReport } from './reports.ts';
import { type JobSetup, runJob } from './run-job.ts';
import { runPool } from './run-pool.ts';

export interface RunOptions {
  readonly root: string;
  readonly seed: string;
  /** Ends with a table of all jobs, and fails a test that is unsteady for the second time. */
  readonly isWholeTier: boolean;
}

/** Reasons longer than this are in the log only. */
const REASON_CHARS_MAX = 4_000;

/** Runs the jobs and prints how each ended; returns the exit status. The last line counts the tests. */
export async function runJobs(jobs: readonly Job[], options: RunOptions): Promise<number> {
  const { root, seed, isWholeTier } = options;
  const startMs = performance.now();
  const cpuBeforeS = endedChildrenCpuS();
  const folder = openReportFolder(`${new Date().toISOString().replaceAll(/[:.]/g, '-')}-${process.pid}`);
  const postgres = await postgresFor(jobs);
  const isShown = jobs.length === 1;
  const setup: JobSetup = {
    root,
    logDirectory: folder.path,
    env: { RELAY_TEST_SEED: seed, ...(postgres === null ? {} : { TEST_DATABASE_URL: postgres.url }) },
    isShown,
  };
  process.stdout.write(`${jobs.length} jobs, seed ${seed}, reports in ${relative(root, folder.path)}\n`);
  const run = async (job: Job) => {
    const result = await runJob(job, setup);
    sayResult(result);
    return result;
  };
  const { results, notRun } = await runPool(jobs, weightsOf(folder.earlier), run, availableParallelism());
  const verdict = await judgeRun(results, (job) => {
    process.stdout.write(`once more: ${job.name}\n`);
    return run(job);
  });
  await postgres?.remove();

  const wallS = (performance.now() - startMs) / 1_000;
  const report = reportOf(verdict, { seed, wallS, cpuS: endedChildrenCpuS() - cpuBeforeS });
  writeReport(folder, report, verdict.results);
  const again = isWholeTier ? unsteadyAgain(verdict, folder.earlier) : [];
  const say = (word: string, tests: readonly NamedTest[]) => {
    for (const { job, file, name } of tests) process.stdout.write(`${word}: ${job}: ${file}: ${name}\n`);
  };
  if (isWholeTier) process.stdout.write(`\n${tableOf(report)}\n`);
  say('unsteady', verdict.unsteady);
  say('unsteady for the second time', again);
  say('not judged', verdict.notJudged);
  say('failed', verdict.failed);
  for (const { name } of notRun)
    process.stdout.write(`failed: ${name} was not run: a job that it needs failed\n`);
  const failed = verdict.failed.length + again.length + notRun.length;
  const [only] = verdict.results;
  if (isShown && only?.figures) process.stdout.write(`${JSON.stringify(only.figures)}\n`);
  if (isWholeTier)
    process.stdout.write(
      `${JSON.stringify({
        wall_s: report.wall_s,
        cpu_s: report.cpu_s,
        unsteady: verdict.unsteady.length,
        not_judged: verdict.notJudged.length,
      })}\n`,
    );
  // A single suite that measures closes with its figures.
  if (!isShown || !only?.figures) process.stdout.write(`${report.passed} passed, ${failed} failed\n`);
  return failed === 0 && report.passed > 0 ? 0 : 1;
}

function sayResult(result: JobResult): void {
  const { job, tests, wallS, cpuS, runDelayS } = result;
  const failures = failuresOf(result);
  for (const { file, name, reason } of failures)
    process.stdout.write(`  FAILED ${file}: ${name}\n${indent(reason.slice(0, REASON_CHARS_MAX))}\n`);
  const times = `${wallS.toFixed(1)} s, CPU ${cpuS.toFixed(1)} s, run delay ${runDelayS.toFixed(1)} s`;
  process.stdout.write(
    `== ${job.name}: ${tests.length - failures.length} passed, ${failures.length} failed in ${times}\n`,
  );
}

/** Tests that need only a fresh database share a server, which does not wait for the disk. */
async function postgresFor(jobs: readonly Job[]): Promise<{ url: string; remove(): Promise<void> } | null> {
  const isNeeded = jobs.some(({ files }) => files.some((file) => file.endsWith('.db.test.ts')));
  if (!isNeeded || process.env['TEST_DATABASE_URL'] !== undefined) return null;
  return startPostgres({ connectionsMax: 300 });
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '    ');
}
