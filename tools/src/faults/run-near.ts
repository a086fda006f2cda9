import { join } from 'node:path';
import { run } from 'node:test';
import { resultOf, type TestEvent } from '../tests/test-result.ts';

export type NearResult =
  | { readonly outcome: 'passed' }
  /** A test failed or hung. */
  | { readonly outcome: 'failed'; readonly by: string }
  /** No test ran: the file could not be loaded, which any fault could cause and no test proves. */
  | { readonly outcome: 'unloaded'; readonly by: string };

const LEAVE_AT_ONCE = new URL('../tests/leave-at-once.ts', import.meta.url).href;

/** Runs one test file of a tree, for at most so long. */
export async function runNear(root: string, file: string, msMax: number): Promise<NearResult> {
  const path = join(root, file);
  const ended = AbortSignal.timeout(msMax);
  const stream = run({
    files: [path],
    cwd: root,
    timeout: msMax,
    signal: ended,
    execArgv: ['--import', LEAVE_AT_ONCE],
  });
  let ran = 0;
  const failures: string[] = [];
  let unloaded: string | null = null;
  for await (const item of stream) {
    const event = item as TestEvent;
    const result = resultOf(event);
    if (result === null) continue;
    if (isWholeFile(event, path)) unloaded ??= result.outcome === 'failed' ? result.reason : '';
    else {
      ran += 1;
      if (result.outcome === 'failed') failures.push(result.name);
    }
  }
  if (failures[0] !== undefined) return { outcome: 'failed', by: failures[0] };
  if (ended.aborted) return { outcome: 'failed', by: 'takes too long' };
  if (unloaded !== null && ran > 0) return { outcome: 'failed', by: 'the process ended' };
  if (ran === 0) return { outcome: 'unloaded', by: unloaded ?? 'no test ran' };
  return { outcome: 'passed' };
}

function isWholeFile({ data }: TestEvent, path: string): boolean {
  return data.nesting === 0 && data.name === path;
}
