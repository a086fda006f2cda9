import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { suiteFile } from '../harness/run-test-file.ts';
import { LEFT_OUT } from '../harness/stores.ts';

export interface SuiteOutcome {
  readonly passed: number;
  readonly failed: number;
  /** Names of tests that cannot be asked of it, with the reason. */
  readonly leftOut: readonly string[];
  /** What it printed of its failures. */
  readonly failures: string;
}

const SUITE_MS_MAX = 15 * 60_000;

/** Runs a suite with every deployment in it on the embedded stores, each of them with a copy of an empty database. */
export async function runEmbedded(name: string, emptyDatabase: string): Promise<SuiteOutcome> {
  const args = ['--test', '--test-concurrency=1', `--test-timeout=${SUITE_MS_MAX}`, '--test-reporter=tap'];
  const child = spawn(process.execPath, [...args, suiteFile(name)], {
    env: { ...withoutRunner(), RELAY_SYSTEM_STORES: 'embedded', RELAY_SYSTEM_EMPTY_DATABASE: emptyDatabase },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const [code] = (await once(child, 'close')) as [number | null];
  const passed = countOf(output, 'pass');
  const failed = countOf(output, 'fail') + countOf(output, 'cancelled');
  return {
    passed,
    // A suite that ends without a word has failed as well.
    failed: failed > 0 || (code === 0 && passed > 0) ? failed : 1,
    leftOut: output
      .split('\n')
      .flatMap((line) => (line.includes(LEFT_OUT) ? [line.split(LEFT_OUT)[1] ?? ''] : [])),
    failures: output
      .split('\n')
      .filter((line) => /^\s*not ok|^\s*error:|^\s*(expected|actual):/.test(line))
      .slice(0, 40)
      .join('\n'),
  };
}

/** A test runner within a test runner would report to the outer one. */
function withoutRunner(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _context, RELAY_FIGURES_FILE: _figures, ...rest } = process.env;
  return rest;
}

function countOf(output: string, word: string): number {
  return Number(new RegExp(`^# ${word} (\\d+)$`, 'm').exec(output)?.[1] ?? 0);
}
