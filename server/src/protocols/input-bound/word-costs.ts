import { brotliDecompressSync } from 'node:zlib';
import { WORDS } from './generated/words.ts';

/** Of a word as the tokenizers see it, between characters that no token spans together with a letter. */
export interface WordCosts {
  /** Index of a word in the two lists of costs; -1 for one that is not known. `hash` is that of its bytes. */
  find(bytes: Uint8Array, from: number, end: number, hash: number): number;
  /** The most tokens of the word together with one space before it. */
  readonly spaced: Uint8Array;
  /** The most tokens of the word where no space stands before it. */
  readonly bare: Uint8Array;
  /** No known word is longer. */
  readonly lettersMax: number;
}

/** One step of the hash that `find` takes: 0 before the first letter. */
export function hashLetter(hash: number, letter: number): number {
  return (Math.imul(hash ^ letter, 0x01000193) + 0x9e3779b9) | 0;
}

/** A quarter of the slots is used, so that a search ends after one or two of them. */
const SLOTS_PER_WORD = 4;

let known: WordCosts | undefined;

/** Unpacked when it is first needed: most deployments never ask. */
export function wordCosts(): WordCosts {
  known ??= unpack(WORDS);
  return known;
}

/** Lines of `SPACED BARE word word …`, compressed. */
function unpack(packed: string): WordCosts {
  const lines = brotliDecompressSync(Buffer.from(packed, 'base64')).toString('latin1').split('\n');
  const entries = lines.flatMap((line) => {
    const [spaced, bare, ...words] = line.split(' ');
    return words.map((word) => ({ word, spaced: Number(spaced), bare: Number(bare) }));
  });
  const letters = Buffer.from(entries.map(({ word }) => word).join(''), 'latin1');
  const starts = new Uint32Array(entries.length + 1);
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(entries.length * SLOTS_PER_WORD))).fill(-1);
  const mask = slots.length - 1;
  for (const [index, { word }] of entries.entries()) {
    const start = starts[index] ?? 0;
    starts[index + 1] = start + word.length;
    let slot = slotOf(hashOf(letters, start, start + word.length), mask);
    while ((slots[slot] ?? -1) >= 0) slot = (slot + 1) & mask;
    slots[slot] = index;
  }

  function isAt(index: number, bytes: Uint8Array, from: number, end: number): boolean {
    const start = starts[index] ?? 0;
    if ((starts[index + 1] ?? 0) - start !== end - from) return false;
    for (let at = from; at < end; at += 1) if (bytes[at] !== letters[start + at - from]) return false;
    return true;
  }

  return {
    find(bytes, from, end, hash) {
      let slot = slotOf(hash, mask);
      for (;;) {
        const index = slots[slot] ?? -1;
        if (index < 0 || isAt(index, bytes, from, end)) return index;
        slot = (slot + 1) & mask;
      }
    },
    spaced: Uint8Array.from(entries, ({ spaced }) => spaced),
    bare: Uint8Array.from(entries, ({ bare }) => bare),
    lettersMax: Math.max(...entries.map(({ word }) => word.length)),
  };
}

function hashOf(bytes: Uint8Array, from: number, end: number): number {
  let hash = 0;
  for (let at = from; at < end; at += 1) hash = hashLetter(hash, bytes[at] ?? 0);
  return hash;
}

function slotOf(hash: number, mask: number): number {
  return (hash ^ (hash >>> 15)) & mask;
}
