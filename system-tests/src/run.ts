// `npm run system [-- NAME…]`: runs black-box suites, two at a time unless they measure. A suite run alone closes with
// its figures as one JSON object; several close with one line that counts every test.
import { existsSync, readdirSync } from 'node:fs';
import {
  repeatFailed,
  runTestFile,
  runTwoAtOnce,
  suiteFile,
  type TestFileResult,
} from './harness/run-test-file.ts';

const SUITE_MS_MAX = 15 * 60_000;
/** These hold times against bounds that a busy neighbour would break, so they have the machine to themselves. */
const MEASURING: readonly string[] = [
  'admission',
  'first-minute',
  'guardrails',
  'hard-caps',
  'neighbours',
  'operate',
  'rolling',
  'streams',
  'what-if',
];
/** These do too, but spend most of their time waiting: two of them leave each other enough of the machine. */
const WAITING: readonly string[] = ['line', 'health', 'failover', 'clocks'];
/** These take minutes. Started last, one of them would run alone at the end. */
const LONG: readonly string[] = ['mail', 'manners', 'cli', 'embedded', 'agents'];

const names = readdirSync(import.meta.dirname)
  .filter((folder) => existsSync(suiteFile(folder)))
  .sort();

async function runSuites(chosen: readonly string[]): Promise<TestFileResult[]> {
  const results: TestFileResult[] = [];
  const alone = chosen.length === 1 ? chosen : chosen.filter((name) => MEASURING.includes(name));
  const fileOf = (name: string, isAlone: boolean) => {
    const holdsTimes = MEASURING.includes(name) || WAITING.includes(name);
    return { name, path: suiteFile(name), testMsMax: SUITE_MS_MAX, isAlone, holdsTimes };
  };
  for (const name of alone) results.push(await runTestFile(fileOf(name, true)));
  const waiting = WAITING.filter((name) => chosen.includes(name) && !alone.includes(name));
  const others = chosen
    .filter((name) => !alone.includes(name) && !waiting.includes(name))
    .sort((a, b) => turnOf(a) - turnOf(b));
  for (const names of [waiting, others])
    results.push(...(await runTwoAtOnce(names.map((name) => fileOf(name, false)))));
  return await repeatFailed(results);
}

function turnOf(name: string): number {
  return LONG.includes(name) ? 0 : 1;
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(`usage: npm run system [-- NAME…]\nsuites: ${names.join(', ')}\n`);
    return 0;
  }
  const unknown = args.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    process.stderr.write(`no suite is named ${unknown.join(', ')}; use one of: ${names.join(', ')}\n`);
    return 2;
  }
  const results = await runSuites(args.length === 0 ? names : args);
  const sum = (read: (result: TestFileResult) => number) =>
    results.reduce((all, each) => all + read(each), 0);
  const [passed, failed] = [sum((each) => each.passed), sum((each) => each.failed)];
  if (results.length > 1 || results[0]?.figures === null)
    process.stdout.write(`${passed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
