// `npm run quick`: format, lint, types and unit tests of what changed since the last commit that the main branch has. Starts no
// server.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '@relay/testbed/run-command';
import { affectedJobs, changedPaths } from './tests/affected.ts';

const USAGE = `usage: npm run quick [-- REV]
Checks types, format and lint of the files that changed since REV, and runs the unit tests that they can break (default: where
this branch left origin/main, or the last commit). \`npm run check\` looks at all files.
`;

const ROOT = join(import.meta.dirname, '../..');
const CHECKS: readonly string[] = ['check format', 'check lint', 'check types'];

await runCommand(USAGE, async ([since = mergeBase()]) => {
  const changed = changedPaths(ROOT, since);
  const what = `${changed.length} file${changed.length === 1 ? '' : 's'} changed since ${since.slice(0, 10)}`;
  if (changed.length === 0) {
    process.stdout.write(`${what}: nothing to check\n`);
    return 0;
  }
  process.stdout.write(
    `${what}: checks their format and lint, all types, and the unit tests that they can break\n`,
  );
  // Loading these takes longer than the line above may.
  const { allJobs } = await import('./tests/jobs.ts');
  const { runJobs } = await import('./tests/run-jobs.ts');
  const files = changed.filter((path) => existsSync(join(ROOT, path)));
  const all = allJobs(ROOT, { onPackage: false, isLong: false });
  const checks = all
    .filter(({ name }) => CHECKS.includes(name))
    .map((job) => ({ ...job, command: [...job.command, ...files] }));
  const unit = all.filter(({ name, tier }) => name.startsWith('unit ') && tier === 'run');
  return runJobs([...checks, ...affectedJobs(ROOT, unit, changed)], { root: ROOT, isWholeTier: false });
});

function mergeBase(): string {
  try {
    const args = ['merge-base', 'HEAD', 'origin/main'];
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return 'HEAD';
  }
}
