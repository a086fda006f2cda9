import { execFileSync } from 'node:child_process';
import type { Job } from './job.ts';
import { type ModuleGraph, readModuleGraph } from './module-graph.ts';

/** Where the command and the server that black-box suites start begin. */
const PRODUCT = 'cli/src/index.ts';
/** A change of these can break anything. */
const EVERYTHING =
  /^(\.ci\/|\.nvmrc|package(-lock)?\.json|tsconfig\.json|testbed\/|tools\/src\/(run-tests\.ts|tests\/)|[^/]+\/package\.json)/;
/** What jobs read that they don't import. */
const READS: Readonly<Record<string, RegExp>> = {
  'check format': /(?<!\.md)$/,
  'check imports': /\.[cm]?[jt]sx?$|^tools\//,
  'check types': /\.([cm]?[jt]sx?|json)$/,
  'check generated': /^(contract|server|cli|tools|docs|console\/src\/api)\//,
  'check tidy': /./,
  'check knip': /\.([cm]?[jt]sx?|json)$/,
  'check lint': /\.[cm]?[jt]sx?$|^\.oxlintrc/,
  'check site': /^(docs|site)\/|\.md$|^contract\/openapi\.json$/,
  // Tests of tools also read workflows, scripts, manifests and documents.
  'unit tools': /^(\.github|\.ci|changes|deploy|docs)\/|\.sh$|^(CHANGELOG\.md|\.nvmrc)$/,
  'system operate': /^deploy\//,
  'faults image': /^(deploy|package|cli|tools\/src\/(image|build))\//,
};
const CONSOLE = /^(console|contract)\//;

/** Paths that differ between a revision and the working tree, relative to the root. */
export function changedPaths(root: string, since: string): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
  return [
    ...new Set([
      ...git('diff', '--name-only', '--no-renames', since),
      ...git('ls-files', '--others', '--exclude-standard'),
    ]),
  ];
}

/** The jobs that the change of these paths can break: those that read one, or import a module that does. */
export function affectedJobs(
  root: string,
  jobs: readonly Job[],
  changed: readonly string[],
  graph: ModuleGraph = readModuleGraph(root),
): Job[] {
  if (changed.some((path) => EVERYTHING.test(path))) return [...jobs];
  const modules = new Set(changed.flatMap((path) => graph.modulesOf(path)));
  const reaches = (entries: readonly string[]) =>
    graph.reachedFrom(entries).some((path) => modules.has(path));
  const isProductAffected = reaches([PRODUCT]);
  const direct = jobs.filter((job) => {
    const reads = READS[job.name];
    if (reads !== undefined && changed.some((path) => reads.test(path))) return true;
    if (isProductAffected && job.needs.length > 0) return true;
    if (job.name.startsWith('e2e ') && changed.some((path) => CONSOLE.test(path))) return true;
    const entries = job.files.length > 0 ? job.files : job.command.filter((each) => each.endsWith('.ts'));
    return (reads === undefined || job.files.length > 0) && reaches(entries);
  });
  const needed = new Set(direct.flatMap(({ needs }) => needs));
  return jobs.filter((job) => direct.includes(job) || needed.has(job.name));
}
