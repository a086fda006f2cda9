import { availableParallelism } from 'node:os';
import type { Job, JobResult } from './job.ts';

/** What a job took in the last run. */
export interface Weight {
  readonly wallS: number;
  readonly cpuS: number;
}

/** A job without a weight: it may be long, so it starts early. */
const UNKNOWN: Weight = { wallS: 60, cpuS: 48 };
/** Jobs that wait most of their time still need memory and connections. */
const JOBS_PER_CORE_MAX = 2;
/** Jobs use all cores when their loads add up to somewhat more. More than this breaks what they measure. */
const LOAD_PER_CORE_MAX = 1.15;

/**
 * Runs all jobs, the longest first, as many concurrently as their loads allow: a job's load is the number of cores that it kept busy
 * in the last run. Jobs that measure run at the end, one at a time. A job whose needs failed is not run.
 */
export async function runPool(
  jobs: readonly Job[],
  weights: ReadonlyMap<string, Weight>,
  run: (job: Job) => Promise<JobResult>,
  cores = availableParallelism(),
): Promise<{ results: JobResult[]; notRun: Job[] }> {
  const weightOf = ({ name }: Job) => weights.get(name) ?? UNKNOWN;
  const loadOf = (job: Job) =>
    job.isAlone ? cores : Math.min(cores, weightOf(job).cpuS / weightOf(job).wallS);
  const waiting = inOrder(jobs, weightOf);
  const running = new Map<Job, Promise<void>>();
  const results: JobResult[] = [];
  const passed = new Set<string>();
  const names = new Set(jobs.map(({ name }) => name));
  const isReady = (job: Job) => job.needs.every((need) => !names.has(need) || passed.has(need));
  const fits = (job: Job) => {
    if (running.size === 0) return true;
    if (job.isAlone || [...running.keys()].some(({ isAlone }) => isAlone)) return false;
    const load = [...running.keys(), job].reduce((sum, each) => sum + loadOf(each), 0);
    return load <= cores * LOAD_PER_CORE_MAX && running.size < cores * JOBS_PER_CORE_MAX;
  };
  for (;;) {
    const next = waiting.findIndex((job) => isReady(job) && fits(job));
    const [job] = next === -1 ? [] : waiting.splice(next, 1);
    if (job === undefined) {
      if (running.size === 0) break;
      await Promise.race(running.values());
      continue;
    }
    const done = run(job).then((result) => {
      running.delete(job);
      results.push(result);
      if (result.tests.every(({ outcome }) => outcome === 'passed')) passed.add(job.name);
    });
    running.set(job, done);
  }
  return { results, notRun: waiting };
}

/** Jobs that others need come first, then the longest; jobs that run alone come last. */
function inOrder(jobs: readonly Job[], weightOf: (job: Job) => Weight): Job[] {
  const needed = new Set(jobs.flatMap(({ needs }) => needs));
  const rankOf = (job: Job) => (job.isAlone ? 2 : needed.has(job.name) ? 0 : 1);
  return [...jobs].sort((a, b) => rankOf(a) - rankOf(b) || weightOf(b).wallS - weightOf(a).wallS);
}
