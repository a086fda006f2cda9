import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import type { Random } from '../chaos/random.ts';
import type { Cap } from './caps.ts';

/** What tokenizers cut into many pieces: rare scripts, emoji of several characters, letters without words, spaces, digits, and words as well. */
const PIECES: readonly string[] = [
  'ꙮ',
  'ﷺ',
  '𓀀',
  'ខ្មែរ',
  'ግዕዝ',
  'ᚠᛇᚻ',
  'ம்',
  '👩🏽‍🚀',
  '🏳️‍🌈',
  '🤷🏿‍♂️',
  'z͑ͫ̓ͪ̂',
  'qzxjvk ',
  '   ',
  '\n\t',
  '0918273645',
  'ÀÉÎÕÜ',
  '漢字',
  'unbelievable words ',
];
const PIECES_MAX = 400;
/** What the provider counts around a message. */
const FRAME_TOKENS = 7;

export interface Prompt {
  readonly text: string;
  /** As the provider counts it. */
  readonly tokens: number;
}

export function somePrompt(random: Random, counts: Cap['counts']): Prompt {
  const text = Array.from({ length: random.between(20, PIECES_MAX) }, () => random.pick(PIECES)).join('');
  const tokens = counts === 'bytes' ? Buffer.byteLength(text) : countTokens(text);
  return { text, tokens: tokens + FRAME_TOKENS };
}
