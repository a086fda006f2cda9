import { parseArgs } from 'node:util';
import { wholeNumber } from '@relay/testbed';

/** How often and how long every part of a bench is measured. */
export interface Slices {
  readonly slices: number;
  readonly sliceMs: number;
  /** A smoke run, whose figures mean little. */
  readonly short: boolean;
}

/** Options of `parseArgs` that every bench in slices takes. */
export const sliceOptions = {
  slices: { type: 'string' },
  'slice-ms': { type: 'string' },
  short: { type: 'boolean', default: false },
} as const;

interface SliceValues {
  readonly slices?: string | undefined;
  readonly 'slice-ms'?: string | undefined;
  readonly short: boolean;
}

export function slicesOf(values: SliceValues, defaults: { sliceMs: number; shortSliceMs: number }): Slices {
  const { short } = values;
  const sliceMs = String(short ? defaults.shortSliceMs : defaults.sliceMs);
  return {
    slices: positive('--slices', values.slices ?? (short ? '3' : '20')),
    sliceMs: positive('--slice-ms', values['slice-ms'] ?? sliceMs),
    short,
  };
}

/** The settings of a bench that takes no other options. */
export function readSlices(
  args: readonly string[],
  defaults: { sliceMs: number; shortSliceMs: number },
): Slices {
  return slicesOf(parseArgs({ args: [...args], options: sliceOptions }).values, defaults);
}

/** The value of an option that must be a positive integer. */
export function positive(name: string, text: string): number {
  return wholeNumber(name, text, 1);
}

/** Reports progress on standard error; standard output carries the figures alone. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
