import { readFileSync } from 'node:fs';

const MS_PER_TICK = 10;

/**
 * Milliseconds, over all cores and since the machine started, in which its host ran others while a process here was ready to run. Zero where
 * the system does not say (it is not Linux).
 */
export function stolenMs(): number {
  let text: string;
  try {
    text = readFileSync('/proc/stat', 'utf8');
  } catch {
    return 0;
  }
  // cpu user nice system idle iowait irq softirq steal
  return Number(text.split('\n', 1)[0]?.split(/\s+/)[8] ?? 0) * MS_PER_TICK;
}
