// `npm run e2e`: builds the console and uses it in a real Chromium, against real servers. Closes with its figures as one
// JSON object; the line before counts the tests.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const HERE = import.meta.dirname;
const ROOT = join(HERE, '../../..');
const TEST_MS_MAX = 5 * 60_000;

async function run(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<[number, string]> {
  const child = spawn(program, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    process.stdout.write(chunk);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return [code ?? 1, output];
}

function countOf(output: string, word: string): number {
  return Number(new RegExp(`^ℹ ${word} (\\d+)$`, 'm').exec(output)?.[1] ?? 0);
}

async function main(): Promise<number> {
  const [built] = await run('npm', ['run', '--silent', 'build:console'], process.env);
  if (built !== 0) return built;
  const directory = mkdtempSync(join(tmpdir(), 'relay-e2e-'));
  const figuresFile = join(directory, 'figures.json');
  const files = readdirSync(HERE).filter((file) => file.endsWith('.e2e.ts'));
  const [code, output] = await run(
    process.execPath,
    [
      '--test',
      '--test-concurrency=1',
      `--test-timeout=${TEST_MS_MAX}`,
      '--test-reporter=spec',
      ...files.map((file) => join(HERE, file)),
    ],
    { ...process.env, RELAY_FIGURES_FILE: figuresFile },
  );
  const passed = countOf(output, 'pass');
  const counted = countOf(output, 'fail') + countOf(output, 'cancelled');
  const failed = counted === 0 && (code !== 0 || passed === 0) ? 1 : counted;
  const figures = existsSync(figuresFile)
    ? (JSON.parse(readFileSync(figuresFile, 'utf8')) as Record<string, unknown>)
    : {};
  rmSync(directory, { recursive: true, force: true });
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  process.stdout.write(`${JSON.stringify({ passed, failed, ...figures })}\n`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main();
