type Pairs = Readonly<Record<string, string>>;

/** `X-Title: Relay`, one pair in each line. */
export function textOf(pairs: Pairs | null): string {
  return Object.entries(pairs ?? {})
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

/** Null when there are none. A line without a colon is a name without a value. */
export function pairsOf(text: string): Record<string, string> | null {
  const pairs = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line): [string, string] => {
      const [name = '', ...rest] = line.split(':');
      return [name.trim(), rest.join(':').trim()];
    });
  return pairs.length === 0 ? null : Object.fromEntries(pairs);
}
