import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testJob } from './group-files.ts';
import type { Job, JobResult } from './job.ts';
import { runPool } from './run-pool.ts';

/** Runs the jobs on two cores; each ends when no other job can start. Returns which jobs ran beside each other. */
async function poolOf(jobs: readonly Job[], loads: Readonly<Record<string, number>>, broken = '') {
  const running = new Map<string, () => void>();
  const together: string[] = [];
  const weights = new Map(
    Object.entries(loads).map(([name, load]) => [name, { wallS: 10, cpuS: 10 * load }]),
  );
  const run = async (job: Job): Promise<JobResult> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    running.set(job.name, resolve);
    setImmediate(() => {
      if (!running.has(job.name)) return;
      together.push([...running.keys()].join(' '));
      for (const [name, end] of running) {
        running.delete(name);
        end();
      }
    });
    await promise;
    const outcome = job.name === broken ? 'failed' : 'passed';
    const result = { file: '', name: job.name, ms: 0, reason: '', isJudged: true, outcome } as const;
    return { job, tests: [result], wallS: 1, cpuS: 1, runDelayS: 0, figures: null, logFile: '' };
  };
  const { notRun } = await runPool(jobs, weights, run, 2);
  return { together, notRun: notRun.map(({ name }) => name) };
}

test('jobs that mostly wait run beside one that computes, and two that compute share the cores', async () => {
  const jobs = ['a', 'b', 'c', 'd'].map((name) => testJob(name, []));
  const { together } = await poolOf(jobs, { a: 1, b: 1, c: 0.04, d: 0.04 });
  assert.deepEqual(together, ['a b c d']);
  assert.deepEqual((await poolOf(jobs, { a: 1, b: 1, c: 1, d: 1 })).together, ['a b', 'c d']);
});

test('a job that measures runs last and alone', async () => {
  const jobs = [testJob('bench', [], { isAlone: true }), testJob('a', []), testJob('b', [])];
  assert.deepEqual((await poolOf(jobs, { a: 0.1, b: 0.1, bench: 0.1 })).together, ['a b', 'bench']);
});

test('a job starts after what it needs, and not at all when that failed', async () => {
  const jobs = [testJob('system', [], { needs: ['build'] }), testJob('build', [])];
  assert.deepEqual((await poolOf(jobs, {})).together, ['build', 'system']);
  assert.deepEqual((await poolOf(jobs, {}, 'build')).notRun, ['system']);
});
