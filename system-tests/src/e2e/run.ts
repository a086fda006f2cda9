// `npm run e2e [-- NAME…]`: builds the console and uses it in a real Chromium, against real servers; stories are told two
// at a time. Closes with its figures as one JSON object; the line before counts the tests.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { repeatFailed, runTwoAtOnce, type TestFileResult } from '../harness/run-test-file.ts';

const HERE = import.meta.dirname;
const ROOT = join(HERE, '../../..');
const ENDING = '.e2e.ts';
const TEST_MS_MAX = 5 * 60_000;

const known = readdirSync(HERE)
  .filter((file) => file.endsWith(ENDING))
  .map((file) => file.slice(0, -ENDING.length));

async function main(names: readonly string[]): Promise<number> {
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    process.stderr.write(`no story is named ${unknown.join(', ')}; use one of: ${known.join(', ')}\n`);
    return 2;
  }
  const built = spawnSync('npm', ['run', '--silent', 'build:console'], { cwd: ROOT, stdio: 'inherit' });
  if (built.status !== 0) return 1;
  const chosen = names.length === 0 ? known : names;
  const stories = chosen.map((name) => {
    const path = join(HERE, `${name}${ENDING}`);
    return { name, path, testMsMax: TEST_MS_MAX, isAlone: chosen.length === 1, holdsTimes: false };
  });
  const results = await repeatFailed(await runTwoAtOnce(stories));
  const sum = (read: (result: TestFileResult) => unknown) =>
    results.reduce((all, each) => all + Number(read(each) ?? 0), 0);
  const [passed, failed] = [sum((each) => each.passed), sum((each) => each.failed)];
  const seen = {
    pages: sum(({ figures }) => figures?.['pages']),
    axe_violations: sum(({ figures }) => figures?.['axe_violations']),
  };
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  process.stdout.write(`${JSON.stringify({ passed, failed, ...seen })}\n`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
