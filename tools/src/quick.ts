// `npm run quick`: format, lint, types and unit tests of what changed since the last commit that the main branch has. Starts no
// server. Without a change, it tests the contract and the server's pure rules.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { runCommand } from '@relay/testbed';
import { affectedJobs, changedPaths } from './tests/affected.ts';
import { allJobs } from './tests/jobs.ts';
import { runJobs } from './tests/run-jobs.ts';

const USAGE = `usage: npm run quick [-- REV]
Checks format, lint and types, and runs the unit tests that the change since REV can break (default: where this branch left
origin/main, or the last commit).
`;

const ROOT = join(import.meta.dirname, '../..');
const CHECKS: readonly string[] = ['check format', 'check lint', 'check types'];
const SAMPLE: readonly string[] = ['unit contract', 'unit server/src/domain'];

await runCommand(USAGE, async ([since = mergeBase()]) => {
  const all = allJobs(ROOT, { onPackage: false, isLong: false });
  const changed = changedPaths(ROOT, since);
  const unit = all.filter(({ name, tier }) => name.startsWith('unit ') && tier === 'run');
  const tests =
    changed.length === 0
      ? unit.filter(({ name }) => SAMPLE.includes(name))
      : affectedJobs(ROOT, unit, changed);
  const checks = all.filter(({ name }) => CHECKS.includes(name));
  return runJobs([...checks, ...tests], { root: ROOT, seed: '1', isWholeTier: false });
});

function mergeBase(): string {
  try {
    const args = ['merge-base', 'HEAD', 'origin/main'];
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return 'HEAD';
  }
}
