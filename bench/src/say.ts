/** What happens, for whoever waits; the figures come alone, at the end. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
