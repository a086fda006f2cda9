import { type Tokenizer, tokenizers } from './tokenizers.ts';

/** The most tokens of a word, by all tokenizers and in all surroundings that the bound takes for cuts. */
export interface WordCost {
  readonly word: string;
  readonly spaced: number;
  readonly bare: number;
}

/** What a pattern may take together with the word behind it. An apostrophe is none: contractions are cut out first. */
const PREFIXES: readonly string[] = [
  '\t',
  ...characters(0x21, 0x7f).filter((each) => !/[A-Za-z0-9']/.test(each)),
  ...characters(0x2000, 0x2040),
];
/** What o200k takes together with the word before it, in every case, the long s included. */
const CONTRACTIONS: readonly string[] = ['s', 't', 're', 've', 'm', 'll', 'd', 'ſ']
  .flatMap(inEveryCase)
  .map((letters) => `'${letters}`);

export function costOf(word: string): WordCost {
  return {
    word,
    spaced: Math.max(...tokenizers.map((each) => spacedCost(each, word))),
    bare: Math.max(...tokenizers.map((each) => bareCost(each, word))),
  };
}

function spacedCost({ kind, contracts, count }: Tokenizer, word: string): number {
  // The tokenizer writes the space itself.
  if (kind === 'pieces') return count(word);
  if (!contracts) return count(` ${word}`);
  const contracted = CONTRACTIONS.map((suffix) => count(` ${word}${suffix}`) - Buffer.byteLength(suffix));
  return Math.max(count(` ${word}`), ...contracted);
}

function bareCost({ kind, count }: Tokenizer, word: string): number {
  // A line end is a token by itself, as is the space before it.
  if (kind === 'pieces') return count(`\n${word}`) - count('\n');
  const prefixed = PREFIXES.map((prefix) => count(`${prefix}${word}`) - Buffer.byteLength(prefix));
  return Math.max(count(word), ...prefixed);
}

function characters(from: number, end: number): readonly string[] {
  return Array.from({ length: end - from }, (_, index) => String.fromCodePoint(from + index));
}

function inEveryCase(letters: string): readonly string[] {
  const [first, ...rest] = letters;
  if (first === undefined) return [''];
  const ends = inEveryCase(rest.join(''));
  return [...new Set([first, first.toUpperCase()])].flatMap((each) => ends.map((end) => each + end));
}
