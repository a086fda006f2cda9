import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TestFile {
  readonly name: string;
  readonly path: string;
  readonly testMsMax: number;
  /** What it prints is shown as it comes, or kept until it is over where another runs beside it. */
  readonly isAlone: boolean;
}

export interface TestFileResult {
  readonly passed: number;
  readonly failed: number;
  /** What it reported; see figures.ts. */
  readonly figures: Readonly<Record<string, unknown>> | null;
}

/** Runs the tests of one file in a process of their own, and says how they went. */
export async function runTestFile({ name, path, testMsMax, isAlone }: TestFile): Promise<TestFileResult> {
  const startMs = performance.now();
  const directory = mkdtempSync(join(tmpdir(), 'relay-figures-'));
  const figuresFile = join(directory, 'figures.json');
  const args = [
    '--test',
    '--test-concurrency=1',
    `--test-timeout=${testMsMax}`,
    '--test-reporter=spec',
    path,
  ];
  const child = spawn(process.execPath, args, {
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
  rmSync(directory, { recursive: true, force: true });
  const seconds = ((performance.now() - startMs) / 1_000).toFixed(1);
  process.stdout.write(`== ${name}: ${passed} passed, ${failed} failed in ${seconds} s\n`);
  if (figures !== null) process.stdout.write(`${JSON.stringify(figures)}\n`);
  return { passed, failed, figures };
}

/** Runs them in order, at most two concurrently. */
export async function runTwoAtOnce(files: readonly TestFile[]): Promise<TestFileResult[]> {
  const results: TestFileResult[] = [];
  const waiting = [...files];
  const runNext = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift())
      results.push(await runTestFile(file));
  };
  await Promise.all([runNext(), runNext()]);
  return results;
}

function countOf(output: string, word: string): number {
  return Number(new RegExp(`^ℹ ${word} (\\d+)$`, 'm').exec(output)?.[1] ?? 0);
}

/** A suite's main file, in the suite's own folder. */
export function suiteFile(name: string): string {
  return join(import.meta.dirname, '..', name, `${name}.suite.ts`);
}
