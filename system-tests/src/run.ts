// `npm run system [-- NAME…]`: runs black-box suites one after the other. A suite run alone closes with its
// figures as one JSON object; several close with one line that counts every test.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SUITES = join(import.meta.dirname, 'suites');
const SUITE_MS_MAX = 15 * 60_000;

interface SuiteResult {
  readonly passed: number;
  readonly failed: number;
  readonly figures: Record<string, unknown> | null;
}

const names = readdirSync(SUITES)
  .filter((file) => file.endsWith('.suite.ts'))
  .map((file) => file.replace('.suite.ts', ''))
  .sort();

async function runSuite(name: string, directory: string): Promise<SuiteResult> {
  const figuresFile = join(directory, `${name}.json`);
  const args = ['--test', '--test-concurrency=1', `--test-timeout=${SUITE_MS_MAX}`, '--test-reporter=spec'];
  const child = spawn(process.execPath, [...args, join(SUITES, `${name}.suite.ts`)], {
    env: { ...process.env, RELAY_FIGURES_FILE: figuresFile },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    process.stdout.write(chunk);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  const passed = countOf(output, 'pass');
  const failed = countOf(output, 'fail') + countOf(output, 'cancelled');
  const silentFailure = (code !== 0 || passed === 0) && failed === 0;
  return {
    passed,
    failed: failed + (silentFailure ? 1 : 0),
    figures: existsSync(figuresFile)
      ? (JSON.parse(readFileSync(figuresFile, 'utf8')) as Record<string, unknown>)
      : null,
  };
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
  let passed = 0;
  let failed = 0;
  let figures: Record<string, unknown> | null = null;
  for (const name of chosen) {
    const startMs = performance.now();
    process.stdout.write(`\n== ${name}\n`);
    const result = await runSuite(name, directory);
    passed += result.passed;
    failed += result.failed;
    figures = result.figures;
    const seconds = ((performance.now() - startMs) / 1_000).toFixed(1);
    process.stdout.write(`== ${name}: ${result.passed} passed, ${result.failed} failed in ${seconds} s\n`);
    if (figures !== null) process.stdout.write(`${JSON.stringify(figures)}\n`);
  }
  rmSync(directory, { recursive: true, force: true });
  if (chosen.length > 1 || figures === null) process.stdout.write(`${passed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
