import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FIRST, GATEWAY_CORE, mayRunFirst } from '../pinned-process.ts';
import { median } from '../statistics.ts';

export const PART_NAMES: readonly string[] = ['body_scan', 'record', 'settlement', 'frame'];

const FILE = join(import.meta.dirname, '../parts.ts');
/** What the optimizing compiler makes of the same code differs from start to start, of settlements by a tenth. */
const UNOPTIMIZED = '--no-turbofan';

/**
 * Parts of a checkout to the same parts of another: how two kinds of work compare differs from processor to processor. Each start is of
 * one part, because what ran before in a process changes what the compiler makes of the next. The middle start counts; at most so many
 * starts, fewer if they are enough.
 */
export async function measureRatios(
  names: readonly string[],
  roots: { readonly own: string; readonly base: string },
  { starts, isEnough }: { starts: number; isEnough: (name: string, ratio: number) => boolean },
): Promise<Readonly<Record<string, number>>> {
  const ratios: Record<string, number> = {};
  for (const name of names) {
    const all: number[] = [];
    do all.push(await startOf(name, roots));
    while (all.length < starts && !isEnough(name, median(all)));
    ratios[name] = median(all);
  }
  return ratios;
}

async function startOf(
  name: string,
  { own, base }: { readonly own: string; readonly base: string },
): Promise<number> {
  const first = mayRunFirst() ? FIRST : [];
  const core = ['-c', String(GATEWAY_CORE), ...first];
  const command = [...core, process.execPath, UNOPTIMIZED, FILE, own, base, name];
  const { stdout } = await promisify(execFile)('taskset', command);
  return Number(JSON.parse(stdout));
}
