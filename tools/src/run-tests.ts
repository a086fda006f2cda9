// `npm test`, `npm run system`, `npm run e2e` and `.ci/run`: chooses jobs, runs as many concurrently as the cores can carry, and
// closes with one line that counts every test.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCommand, UsageError } from '@relay/testbed';
import { affectedJobs, changedPaths } from './tests/affected.ts';
import type { Job } from './tests/job.ts';
import { allJobs, suiteNames } from './tests/jobs.ts';
import { commitWeights } from './tests/reports.ts';
import { runJobs } from './tests/run-jobs.ts';

const USAGE = `usage: run-tests.ts [SUITE…] [FILTER…] [options]
Suites: ${suiteNames.join(', ')}; without one, unit and db.
A FILTER keeps the unit and database test files whose path contains it, and of other suites the jobs of that name.
  --tier run|all  the jobs of \`.ci/run\`, or those of \`.ci/run --all\`
  --since REV     only the jobs that can break by what changed since REV
  --shard K/N     every Nth of the chosen jobs, from the Kth on, with what they need
  --list          prints the names of the chosen jobs
  -t NAME         only tests whose name contains it
  --watch         runs the unit tests again whenever one of their files changes
  --weights       runs nothing: writes tools/src/tests/job-weights.json from the newest report
`;

const ROOT = join(import.meta.dirname, '../..');

const OPTIONS = {
  tier: { type: 'string' },
  since: { type: 'string' },
  shard: { type: 'string' },
  list: { type: 'boolean', default: false },
  watch: { type: 'boolean', default: false },
  weights: { type: 'boolean', default: false },
  name: { type: 'string', short: 't' },
  root: { type: 'string', default: ROOT },
} as const;

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  const { root, tier, since } = values;
  if (values.weights) {
    commitWeights();
    return 0;
  }
  if (tier !== undefined && tier !== 'run' && tier !== 'all')
    throw new UsageError(`no tier is named ${tier}`);
  const isWholeTier = tier !== undefined;
  const inTier = allJobs(root, { onPackage: isWholeTier, isLong: tier === 'all' }).filter(
    (job) => tier !== 'run' || job.tier === 'run' || (job.tier === 'since' && since !== undefined),
  );
  const named = isWholeTier && positionals.length === 0 ? inTier : chooseJobs(inTier, positionals);
  const chosen = since === undefined ? named : affectedJobs(root, named, changedPaths(root, since));
  const dealt = values.shard === undefined ? chosen : withNeeds(shardOf(chosen, values.shard), inTier);
  const testName = values.name ?? null;
  const jobs = dealt.map((job) => (job.files.length === 0 ? job : { ...job, testName }));
  if (values.list) {
    for (const { name } of jobs) process.stdout.write(`${name}\n`);
    return 0;
  }
  if (jobs.length === 0) {
    process.stdout.write(
      since === undefined ? 'no test ran, which counts as a failure\n' : 'nothing is affected\n',
    );
    return since === undefined ? 1 : 0;
  }
  if (values.watch) return await watch(root, jobs);
  return await runJobs(jobs, { root, isWholeTier });
}

function chooseJobs(jobs: readonly Job[], words: readonly string[]): Job[] {
  const isSuite = (word: string) => suiteNames.some((name) => name === word);
  const suites = words.some(isSuite) ? words.filter(isSuite) : ['unit', 'db'];
  const filters = words.filter((word) => !isSuite(word));
  const matches = new Set<string>();
  const chosen = jobs.flatMap((job) => {
    const [suite = '', ...rest] = job.name.split(' ');
    if (!suites.includes(suite)) return [];
    // The unit tests of tools/ run when tools/ changes, when a filter names them, and in `--all`.
    if (filters.length === 0) return suite === 'unit' && job.tier === 'all' ? [] : [job];
    const byName = filters.filter((filter) => filter === rest.join(' '));
    const files = job.files.filter((file) => filters.some((filter) => file.includes(filter)));
    const hasPaths = suite === 'unit' || suite === 'db' || suite === 'embedded';
    for (const filter of filters)
      if (byName.includes(filter) || files.some((file) => file.includes(filter))) matches.add(filter);
    if (hasPaths) return files.length === 0 ? [] : [{ ...job, files }];
    return byName.length === 0 ? [] : [job];
  });
  const unknown = filters.filter((filter) => !matches.has(filter));
  if (unknown.length > 0)
    throw new UsageError(
      `nothing of ${suites.join(', ')} is named ${unknown.join(', ')}; --list prints the names`,
    );
  return withNeeds(chosen, jobs);
}

function withNeeds(chosen: readonly Job[], jobs: readonly Job[]): Job[] {
  const needs = new Set(chosen.flatMap((job) => job.needs));
  return [...jobs.filter((job) => needs.has(job.name) && !chosen.includes(job)), ...chosen];
}

/** Deals jobs out to machines; those that others need are built on each. */
function shardOf(jobs: readonly Job[], shard: string): Job[] {
  const [, k, n] = /^([1-9]\d?)\/([1-9]\d?)$/.exec(shard) ?? [];
  if (k === undefined || Number(k) > Number(n)) throw new UsageError(`--shard ${shard} is not K/N`);
  const needed = new Set(jobs.flatMap(({ needs }) => needs));
  return jobs
    .filter(({ name }) => !needed.has(name))
    .filter((_, index) => index % Number(n) === Number(k) - 1);
}

async function watch(root: string, jobs: readonly Job[]): Promise<number> {
  const files = jobs.flatMap((job) => job.files).map((file) => join(root, file));
  const child = spawn(process.execPath, ['--test', '--watch', ...files], { cwd: root, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

await runCommand(USAGE, main);
