import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { startPostgres, stolenMs } from '@relay/testbed';
import type { Job } from './job.ts';
import { judgeRun } from './judge-run.ts';
import { openReportFolder, reportOf, unsteadyAgain, weightsOf, writeReport } from './reports.ts';
import { type JobSetup, runJob } from './run-job.ts';
import { runPool } from './run-pool.ts';
import { figuresOf, sayResult, sayVerdict, shortReport, tableOf } from './say-run.ts';

export interface RunOptions {
  readonly root: string;
  readonly seed: string;
  /** Ends with a table of all jobs, and fails a test that is unsteady for the second time. */
  readonly isWholeTier: boolean;
}

/** Runs the jobs and prints how each ended; returns the exit status. The last line counts the tests. */
export async function runJobs(jobs: readonly Job[], options: RunOptions): Promise<number> {
  const { root, seed, isWholeTier } = options;
  const startMs = performance.now();
  const stolenBeforeMs = stolenMs();
  const folder = openReportFolder(`${new Date().toISOString().replaceAll(/[:.]/g, '-')}-${process.pid}`);
  const postgres = await postgresFor(jobs);
  const isShown = jobs.length === 1;
  const setup: JobSetup = {
    root,
    logDirectory: folder.path,
    env: {
      RELAY_TEST_SEED: seed,
      // Hundreds of processes load the same modules: they share what Node compiled of them.
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(root, '.cache/compiled'),
      // Stories leave a screenshot of a failure there.
      RELAY_REPORTS_DIR: folder.path,
      ...(postgres === null ? {} : { TEST_DATABASE_URL: postgres.url }),
    },
    isShown,
  };
  process.stdout.write(`${jobs.length} jobs, seed ${seed}, reports in ${relative(root, folder.path)}\n`);
  const run = async (job: Job) => {
    const result = await runJob(job, setup);
    process.stdout.write(sayResult(result));
    return result;
  };
  const { results, notRun } = await runPool(jobs, weightsOf(folder.earlier), run, availableParallelism());
  const verdict = await judgeRun(results, (job) => {
    process.stdout.write(`once more: ${job.name}\n`);
    return run(job);
  });
  await postgres?.remove();

  const wallS = (performance.now() - startMs) / 1_000;
  const report = reportOf(verdict, { seed, wallS, stolenS: (stolenMs() - stolenBeforeMs) / 1_000 });
  writeReport(folder, report, verdict.results);
  const again = isWholeTier ? unsteadyAgain(verdict, folder.earlier) : [];
  const failed = verdict.failed.length + again.length + notRun.length;
  const figures = isWholeTier ? null : figuresOf(verdict.results);
  process.stdout.write(sayVerdict(verdict, { again, notRun }));
  const counts = `${report.passed} passed, ${failed} failed\n`;
  if (isWholeTier)
    process.stdout.write(`\n${tableOf(report)}\n${JSON.stringify(shortReport(report))}\n${counts}`);
  else process.stdout.write(figures === null ? counts : `${counts}${JSON.stringify(figures)}\n`);
  return failed === 0 && report.passed > 0 ? 0 : 1;
}

/** Tests that need only a fresh database share a server, which does not wait for the disk. */
async function postgresFor(jobs: readonly Job[]): Promise<{ url: string; remove(): Promise<void> } | null> {
  const isNeeded = jobs.some(({ files }) => files.some((file) => file.endsWith('.db.test.ts')));
  if (!isNeeded || process.env['TEST_DATABASE_URL'] !== undefined) return null;
  return startPostgres({ connectionsMax: 300 });
}
