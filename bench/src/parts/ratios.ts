import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FIRST, GATEWAY_CORE, mayRunFirst } from '../pinned-process.ts';

export const PART_NAMES: readonly string[] = ['body_scan', 'record', 'settlement', 'frame'];

const FILE = join(import.meta.dirname, '../parts.ts');

/** What each start of the process said: microseconds of each part, and of the reference. */
type Start = Readonly<Record<string, number>>;

/** Starts the parts of a checkout that many times, one after the other. */
export async function measureStarts(root: string, starts: number): Promise<Start[]> {
  const found: Start[] = [];
  const first = mayRunFirst() ? FIRST : [];
  for (let start = 0; start < starts; start += 1) {
    const { stdout } = await promisify(execFile)('taskset', [
      '-c',
      String(GATEWAY_CORE),
      ...first,
      process.execPath,
      FILE,
      root,
    ]);
    found.push(JSON.parse(stdout) as Start);
  }
  return found;
}

/** Each part to the reference, both from the start in which it was quickest. */
export function ratiosToReference(starts: readonly Start[]): Record<string, number> {
  const quickest = (name: string) => Math.min(...starts.map((start) => start[name] ?? Number.NaN));
  return Object.fromEntries(PART_NAMES.map((name) => [name, quickest(name) / quickest('reference')]));
}
