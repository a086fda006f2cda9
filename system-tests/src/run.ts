// `npm run system [-- NAME…]`: runs black-box suites, two at a time unless they measure. A suite run alone closes with
// its figures as one JSON object; several close with one line that counts every test.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SUITES = join(import.meta.dirname, 'suites');
const SUITE_MS_MAX = 15 * 60_000;
/** These hold times against a bound, so they have the machine to themselves. */
const MEASURING: readonly string[] = [
  'aborts',
  'admission',
  'embedded',
  'first-minute',
  'guardrails',
  'outage',
  'revocation',
  'streams',
];

interface SuiteResult {
  readonly passed: number;
  readonly failed: number;
  readonly figures: Record<string, unknown> | null;
}

const names = readdirSync(SUITES)
  .filter((file) => file.endsWith('.suite.ts'))
  .map((file) => file.replace('.suite.ts', ''))
  .sort();

/** What a suite prints is shown as it comes, or kept until it is over where another runs beside it. */
async function runSuite(name: string, directory: string, isAlone: boolean): Promise<SuiteResult> {
  const startMs = performance.now();
  const figuresFile = join(directory, `${name}.json`);
  const args = ['--test', '--test-concurrency=1', `--test-timeout=${SUITE_MS_MAX}`, '--test-reporter=spec'];
  const child = spawn(process.execPath, [...args, join(SUITES, `${name}.suite.ts`)], {
    env: { ...process.env, RELAY_FIGURES_FILE: figuresFile },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = `\n== ${name}\n`;
  if (isAlone) process.stdout.write(output);
  const take = (chunk: Buffer) => {
    output += chunk.toString();
    if (isAlone) process.stdout.write(chunk);
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const [code] = (await once(child, 'close')) as [number | null];
  if (!isAlone) process.stdout.write(output);
  const passed = countOf(output, 'pass');
  const counted = countOf(output, 'fail') + countOf(output, 'cancelled');
  const failed = counted === 0 && (code !== 0 || passed === 0) ? 1 : counted;
  const figures = existsSync(figuresFile)
    ? (JSON.parse(readFileSync(figuresFile, 'utf8')) as Record<string, unknown>)
    : null;
  const seconds = ((performance.now() - startMs) / 1_000).toFixed(1);
  process.stdout.write(`== ${name}: ${passed} passed, ${failed} failed in ${seconds} s\n`);
  if (figures !== null) process.stdout.write(`${JSON.stringify(figures)}\n`);
  return { passed, failed, figures };
}

async function runSuites(chosen: readonly string[], directory: string): Promise<SuiteResult[]> {
  const results: SuiteResult[] = [];
  const alone = chosen.length === 1 ? chosen : chosen.filter((name) => MEASURING.includes(name));
  for (const name of alone) results.push(await runSuite(name, directory, true));
  const waiting = chosen.filter((name) => !alone.includes(name));
  const runNext = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
      results.push(await runSuite(name, directory, false));
  };
  await Promise.all([runNext(), runNext()]);
  return results;
}

function countOf(output: string, word: string): number {
  return Number(new RegExp(`^ℹ ${word} (\\d+)$`, 'm').exec(output)?.[1] ?? 0);
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(`usage: npm run system [-- NAME…]\nsuites: ${names.join(', ')}\n`);
    return 0;
  }
  const unknown = args.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    process.stderr.write(`no suite called ${unknown.join(', ')}; there are: ${names.join(', ')}\n`);
    return 2;
  }
  const chosen = args.length === 0 ? names : args;
  const directory = mkdtempSync(join(tmpdir(), 'relay-figures-'));
  const results = await runSuites(chosen, directory);
  rmSync(directory, { recursive: true, force: true });
  const sum = (read: (result: SuiteResult) => number) => results.reduce((all, each) => all + read(each), 0);
  const [passed, failed] = [sum((each) => each.passed), sum((each) => each.failed)];
  if (results.length > 1 || results[0]?.figures === null)
    process.stdout.write(`${passed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
