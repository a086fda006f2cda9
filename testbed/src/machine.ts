import { readFileSync } from 'node:fs';

const MS_PER_TICK = 10;
// cpu user nice system idle iowait irq softirq steal
const [IDLE, IO_WAIT, STEAL] = [4, 5, 8];

/**
 * Milliseconds, over all cores and since the machine started, in which its host ran others while a process here was ready to run. Zero where
 * the system does not say (it is not Linux).
 */
export const stolenMs = (): number => spentMs(STEAL);

/** Milliseconds, over all cores and since the machine started, in which no process was ready to run. */
export const idleMs = (): number => spentMs(IDLE) + spentMs(IO_WAIT);

function spentMs(field: number): number {
  let text: string;
  try {
    text = readFileSync('/proc/stat', 'utf8');
  } catch {
    return 0;
  }
  return Number(text.split('\n', 1)[0]?.split(/\s+/)[field] ?? 0) * MS_PER_TICK;
}
