import { countWords } from './count.ts';

const decimal = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });

/** "512 B", "64 KiB", "1.5 MiB", "20 MiB" */
export function sizeWords(bytes: number): string {
  if (bytes < 1_024) return `${countWords(bytes)} B`;
  return bytes < 1_048_576
    ? `${decimal.format(bytes / 1_024)} KiB`
    : `${decimal.format(bytes / 1_048_576)} MiB`;
}
