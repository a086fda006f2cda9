/** Browser names in user agents, the most specific first: most also contain Chrome and Safari. */
const BROWSERS = [
  ['Edge', /\bEdg(e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Firefox', /\b(Firefox|FxiOS)\//],
  ['Chrome', /\b(Headless)?Chrom(e|ium)\/|\bCriOS\//],
  ['Safari', /\bVersion\/.*\bSafari\//],
  ['curl', /^curl\//],
] as const;

const SYSTEMS = [
  ['iOS', /\b(iPhone|iPad|iPod)\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac ?OS\b|\bMacintosh\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
] as const;

export interface Device {
  readonly browser: string | null;
  readonly system: string | null;
}

/** Enough to recognize one's own browsers. Clients can forge the value. */
export function deviceOf(userAgent: string): Device {
  const nameIn = (table: readonly (readonly [string, RegExp])[]) =>
    table.find(([, pattern]) => pattern.test(userAgent))?.[0] ?? null;
  return { browser: nameIn(BROWSERS), system: nameIn(SYSTEMS) };
}
