// `npm run e2e [-- NAME…]`: builds the console and uses it in a real Chromium, against real servers. Closes with its figures as one
// JSON object; the line before counts the tests.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const HERE = import.meta.dirname;
const ROOT = join(HERE, '../../..');
const ENDING = '.e2e.ts';
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

interface Figures {
  readonly passed: number;
  readonly failed: number;
  readonly pages: number;
  readonly axe_violations: number;
}

/** One story, in a process of its own. */
async function tell(file: string): Promise<Figures> {
  const directory = mkdtempSync(join(tmpdir(), 'relay-e2e-'));
  const figuresFile = join(directory, 'figures.json');
  try {
    const [code, output] = await run(
      process.execPath,
      ['--test', `--test-timeout=${TEST_MS_MAX}`, '--test-reporter=spec', join(HERE, file)],
      { ...process.env, RELAY_FIGURES_FILE: figuresFile },
    );
    const passed = countOf(output, 'pass');
    const counted = countOf(output, 'fail') + countOf(output, 'cancelled');
    const failed = counted === 0 && (code !== 0 || passed === 0) ? 1 : counted;
    const seen = existsSync(figuresFile)
      ? (JSON.parse(readFileSync(figuresFile, 'utf8')) as Pick<Figures, 'pages' | 'axe_violations'>)
      : { pages: 0, axe_violations: 0 };
    return { passed, failed, ...seen };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function main(names: readonly string[]): Promise<number> {
  const known = readdirSync(HERE).filter((file) => file.endsWith(ENDING));
  const unknown = names.filter((name) => !known.includes(`${name}${ENDING}`));
  if (unknown.length > 0) {
    const list = known.map((file) => file.slice(0, -ENDING.length)).join(', ');
    process.stderr.write(`no story called ${unknown.join(', ')}; there are: ${list}\n`);
    return 2;
  }
  const [built] = await run('npm', ['run', '--silent', 'build:console'], process.env);
  if (built !== 0) return built;
  const sum = { passed: 0, failed: 0, pages: 0, axe_violations: 0 };
  for (const file of names.length === 0 ? known : names.map((name) => `${name}${ENDING}`)) {
    const figures = await tell(file);
    for (const key of Object.keys(sum) as (keyof Figures)[]) sum[key] += figures[key];
  }
  process.stdout.write(`${sum.passed} passed, ${sum.failed} failed\n`);
  process.stdout.write(`${JSON.stringify(sum)}\n`);
  return sum.failed === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
