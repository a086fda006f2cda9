const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** "12,480" */
export function countWords(count: number): string {
  return whole.format(count);
}

/** "1 request", "0 requests", "1,204 requests". Give the plural where it is not the noun with an s. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${countWords(count)} ${count === 1 ? noun : plural}`;
}
