import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { idleMs, startPostgres, stolenMs } from '@relay/testbed';
import type { Job } from './job.ts';
import { judgeRun, verdictOf } from './judge-run.ts';
import { openReportFolder, reportOf, unsteadyAgain, weightsOf, writeReport } from './reports.ts';
import { type JobSetup, runJob } from './run-job.ts';
import { runPool } from './run-pool.ts';
import { figuresOf, sayResult, sayVerdict, shortReport, tableOf } from './say-run.ts';

export interface RunOptions {
  readonly root: string;
  /** Runs failed jobs once more, ends with a table of all jobs, and fails a test that is unsteady for the second time. */
  readonly isWholeTier: boolean;
}

/** Runs the jobs and prints how each ended; returns the exit status. The last line counts the tests. */
export async function runJobs(jobs: readonly Job[], options: RunOptions): Promise<number> {
  const { root, isWholeTier } = options;
  const seed = seedOf(root);
  const startMs = performance.now();
  const [stolenBeforeMs, idleBeforeMs] = [stolenMs(), idleMs()];
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
  process.stdout.write(`${jobs.length} jobs, RELAY_TEST_SEED=${seed}, reports in ${folder.path}\n`);
  const run = async (job: Job) => {
    const result = await runJob(job, setup);
    process.stdout.write(sayResult(result));
    return result;
  };
  const { results, notRun } = await runPool(jobs, weightsOf(folder.earlier), run, availableParallelism());
  const runAgain = (job: Job) => {
    process.stdout.write(`once more: ${job.name}\n`);
    return run(job);
  };
  const verdict = isWholeTier ? await judgeRun(results, runAgain) : verdictOf(results);
  await postgres?.remove();

  const wallS = (performance.now() - startMs) / 1_000;
  const stolenS = (stolenMs() - stolenBeforeMs) / 1_000;
  const idleS = (idleMs() - idleBeforeMs) / 1_000;
  const report = reportOf(verdict, { seed, wallS, stolenS, idleS });
  writeReport(folder, report, verdict.results);
  const again = isWholeTier ? unsteadyAgain(verdict, folder.earlier) : [];
  const tested = verdict.results.filter(({ job }) => job.testName !== null);
  const isUnknown = tested.length > 0 && tested.every(({ tests }) => tests.length === 0);
  const failed = verdict.failed.length + again.length + notRun.length + Number(isUnknown);
  const figures = isWholeTier ? null : figuresOf(verdict.results);
  // A short run has just named what failed.
  process.stdout.write(sayVerdict(isWholeTier ? verdict : { ...verdict, failed: [] }, { again, notRun }));
  if (isUnknown) {
    const where = tested.map(({ job }) => job.name).join(', ');
    process.stdout.write(`failed: no test is named "${jobs.at(-1)?.testName}" in ${where}\n`);
  }
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

/** The same for every run of a commit, so that no commit fails by chance; nightly runs set a random one. */
function seedOf(root: string): string {
  const given = process.env['RELAY_TEST_SEED'];
  if (given !== undefined && given !== '') return given;
  try {
    const options = { cwd: root, encoding: 'utf8', stdio: 'pipe' } as const;
    const parent = execFileSync('git', ['rev-parse', 'HEAD^'], options);
    return String(Number.parseInt(parent.slice(0, 8), 16));
  } catch {
    return '1';
  }
}
