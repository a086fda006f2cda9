import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A usage as a provider reported it, and the bill for it by the provider's price list, computed apart from Relay. */
export interface RecordedUsage {
  readonly id: string;
  readonly shape: string;
  readonly protocol: 'chat' | 'responses' | 'messages' | 'embeddings';
  readonly stream: boolean;
  /** Which of the prices. */
  readonly price: string;
  readonly usage: Readonly<Record<string, unknown>>;
  /** As the provider reports it beside the usage. */
  readonly service_tier?: string;
  /** `x_groq`: the usage is in this member of the last frame. */
  readonly where?: 'usage' | 'x_groq';
  /** Dollars, exact. */
  readonly bill: string;
}

function read(name: string): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8'));
}

export const recordedUsages = read('recorded-usages.json') as readonly RecordedUsage[];
/** As bodies of the management API. */
export const prices = read('prices.json') as Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** An exact amount of dollars in 10⁻¹² dollar. */
export function picos(dollars: string): bigint {
  const [whole = '', part = ''] = dollars.split('.');
  if (part.length > 12) throw new RangeError(`${dollars} is finer than 10⁻¹² dollar`);
  return BigInt(whole) * 10n ** 12n + BigInt(part.padEnd(12, '0'));
}
