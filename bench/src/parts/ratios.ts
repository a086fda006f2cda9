import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FIRST, GATEWAY_CORE, mayRunFirst } from '../pinned-process.ts';

export const PART_NAMES: readonly string[] = ['body_scan', 'record', 'settlement', 'frame'];

const FILE = join(import.meta.dirname, '../parts.ts');

/** The microseconds of each part that one start of `parts.ts` printed. */
type Start = Readonly<Record<string, number>>;

/**
 * Each part of a checkout to the same part of another, both from the start in which it was quickest. What the compiler makes of the same
 * code differs from start to start, and how two kinds of work compare differs from processor to processor.
 */
export async function measureRatios(
  root: string,
  base: string,
  starts: number,
): Promise<Record<string, number>> {
  const [own, others]: [Start[], Start[]] = [[], []];
  for (let start = 0; start < starts; start += 1) {
    own.push(await startOf(root));
    others.push(await startOf(base));
  }
  const quickest = (all: readonly Start[], name: string) =>
    Math.min(...all.map((each) => each[name] ?? Number.NaN));
  return Object.fromEntries(PART_NAMES.map((name) => [name, quickest(own, name) / quickest(others, name)]));
}

async function startOf(root: string): Promise<Start> {
  const first = mayRunFirst() ? FIRST : [];
  const command = ['-c', String(GATEWAY_CORE), ...first, process.execPath, FILE, root];
  const { stdout } = await promisify(execFile)('taskset', command);
  return JSON.parse(stdout) as Start;
}
