/** Deterministic content: the same seed always says the same thing. */

/** FNV-1a, 32 bits, over UTF-16 units: a seed, not a fingerprint. */
export function seedOf(text: string, start = 0x811c9dc5): number {
  let hash = start;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

/** Mulberry32: small, fast and the same everywhere. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Words of one to four bytes a character, with quotes, escapes and line ends, so that careless splitting shows. */
const words = (
  'the|lane|waits|for|a|candidate|and|then|moves|on|naïve|café|Zürich|日本語|Ω|🙂|"quoted"|back\\slash|tab\there|' +
  'line\nbreak|data:|[DONE]|ünïcödé|river|stone|window|bridge|quiet|seven|again|между|\u2028'
).split('|');

/** One piece is one output token. */
export function* wordPieces(seed: number, count: number): Generator<string> {
  const random = randomFrom(seed);
  for (let index = 0; index < count; index += 1) {
    const word = words[Math.floor(random() * words.length)] ?? 'the';
    yield index === 0 ? word : ` ${word}`;
  }
}

/** Text that must stay as it is (JSON), cut into pieces of a few characters; never inside a surrogate pair. */
export function textPieces(text: string): string[] {
  return text.match(/.{1,4}/gsu) ?? [];
}

/** The input side: a quarter of the bytes, rounded up. */
export function tokensOfText(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}
