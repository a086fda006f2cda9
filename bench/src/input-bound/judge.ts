import { resolve } from 'node:path';
import { loadModule } from '../checkouts/load-module.ts';
import { median } from '../statistics.ts';
import { type Random, randomFrom, type TextKind, textKinds } from './texts.ts';
import { tokenizers } from './tokenizers.ts';

export interface Judged {
  readonly texts: number;
  readonly scripts: number;
  /** Texts that have more tokens than the bound says. */
  readonly below: number;
  /** Bound to tokens, in the median of English texts: of the tokenizer for which it is the largest. */
  readonly median_ratio_english: number;
  readonly ratios_english: Readonly<Record<string, number>>;
  /** The same over all texts that are not English. */
  readonly median_ratio_others: number;
  readonly examples: readonly string[];
}

interface CountModule {
  countText(bytes: Buffer, from: number, end: number): Iterator<undefined, { readonly tokens: number }>;
}

const ROOT = resolve(import.meta.dirname, '../../..');
const EXAMPLES_MAX = 5;

/** Holds the product's bound against the tokenizers, over texts of every kind in turn. */
export async function judge(texts: number, seed: number): Promise<Judged> {
  const boundOf = await loadBound();
  const random = randomFrom(seed);
  const kinds = textKinds();
  const english = new Map(tokenizers.map(({ name }) => [name, [] as number[]]));
  const others: number[] = [];
  const examples: string[] = [];
  let below = 0;
  for (let index = 0; index < texts; index += 1) {
    const kind = kindAt(kinds, index);
    const text = kind.write(random);
    const bound = boundOf(sent(text, random));
    const counts = tokenizers.map(({ name, count }) => ({ name, count: count(text) }));
    const missed = counts.filter(({ count }) => count > bound);
    if (missed.length > 0) {
      below += 1;
      const found = missed.map(({ name, count }) => `${name} ${count}`).join(', ');
      if (examples.length < EXAMPLES_MAX)
        examples.push(`${kind.name}: ${found} > ${bound}: ${JSON.stringify(text)}`);
    }
    for (const { name, count } of counts)
      if (kind.name === 'english') english.get(name)?.push(bound / count);
      else others.push(bound / count);
  }
  const ratios = Object.fromEntries([...english].map(([name, each]) => [name, rounded(median(each))]));
  return {
    texts,
    scripts: kinds.length,
    below,
    median_ratio_english: Math.max(...Object.values(ratios)),
    ratios_english: ratios,
    median_ratio_others: rounded(median(others)),
    examples,
  };
}

async function loadBound(): Promise<(json: string) => number> {
  const { countText } = await loadModule<CountModule>(ROOT, 'protocols/input-bound/count-text.ts');
  return (json) => {
    const bytes = Buffer.from(json);
    const steps = countText(bytes, 0, bytes.length);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    return step.value.tokens;
  };
}

/** As JSON that clients write, with or without escapes beyond ASCII, or in two parts that a provider may join. */
function sent(text: string, random: Random): string {
  const form = random();
  if (form < 0.4) return JSON.stringify(text);
  if (form < 0.7) return asciiJson(text);
  const characters = Array.from(text);
  const cut = Math.floor(random() * characters.length);
  const parts = [characters.slice(0, cut).join(''), characters.slice(cut).join('')];
  return parts.map((part) => JSON.stringify(part)).join('');
}

function asciiJson(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[\u{80}-\u{ffff}]/gu,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Every third text is English, so that its median means something. */
function kindAt(kinds: readonly TextKind[], index: number): TextKind {
  const [english, ...rest] = kinds;
  const kind = index % 3 === 0 ? english : rest[Math.floor(index / 3) % rest.length];
  if (kind === undefined) throw new Error('there are no kinds of text');
  return kind;
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
