// `npm run check`: every step runs even after a failure, and the exit status is 0 only when all hold.
import { join } from 'node:path';
import { type Step, steps } from './check/steps.ts';

const USAGE = `usage: npm run check [-- --only=STEP,… | --skip=STEP,…] [-- PATH…] [-- --root=DIR]
Paths limit format, lint and the unit tests.
${steps.map(({ name, what }) => `  ${name.padEnd(10)} ${what}`).join('\n')}
`;

const OUTPUT_LINES_MAX = 60;

function chooseSteps(args: readonly string[]): readonly Step[] {
  const list = (option: string): string[] | undefined =>
    args
      .find((arg) => arg.startsWith(`--${option}=`))
      ?.slice(option.length + 3)
      .split(',');
  const only = list('only');
  const skip = list('skip') ?? [];
  for (const name of [...(only ?? []), ...skip]) {
    if (!steps.some((step) => step.name === name)) throw new Error(`no step is named "${name}"\n${USAGE}`);
  }
  return steps.filter(({ name }) => (only === undefined || only.includes(name)) && !skip.includes(name));
}

/** The beginning and the end: the first complaint and the closing count are what a reader needs. */
function shorten(output: string): string {
  const lines = output.trimEnd().split('\n');
  if (lines.length <= OUTPUT_LINES_MAX) return lines.join('\n');
  const half = OUTPUT_LINES_MAX / 2;
  const left = lines.length - OUTPUT_LINES_MAX;
  return [...lines.slice(0, half), `… ${left} lines omitted …`, ...lines.slice(-half)].join('\n');
}

async function timed(step: Step, root: string, paths: readonly string[]) {
  const startedMs = performance.now();
  const result = await step.run(root, paths);
  return { ...result, seconds: ((performance.now() - startedMs) / 1000).toFixed(1) };
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(USAGE);
    return 0;
  }
  const root = args.find((arg) => arg.startsWith('--root='))?.slice(7) ?? join(import.meta.dirname, '../..');
  const paths = args.filter((arg) => !arg.startsWith('--'));
  const failed: string[] = [];
  const chosen = chooseSteps(args);
  // The longest runs beside the others, which take as long together.
  const beside = chosen.find(({ name }) => name === 'lint');
  const besideResult = beside === undefined ? null : timed(beside, root, paths);
  for (const step of chosen) {
    const { ok, output, seconds } = await (step === beside && besideResult !== null
      ? besideResult
      : timed(step, root, paths));
    process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${step.name.padEnd(10)} ${seconds.padStart(5)} s\n`);
    if (!ok) {
      failed.push(step.name);
      process.stdout.write(`${shorten(output)}\n`);
    } else if (step.name === 'unit' || step.name === 'tidy') {
      process.stdout.write(`       ${output.trimEnd().split('\n').at(-1)}\n`);
    }
  }
  process.stdout.write(failed.length === 0 ? 'check passed\n' : `check failed: ${failed.join(', ')}\n`);
  return failed.length === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
