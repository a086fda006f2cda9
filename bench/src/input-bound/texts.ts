import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export type Random = () => number;

/** Mulberry32: small, fast and the same everywhere. */
export function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface TextKind {
  readonly name: string;
  write(random: Random): string;
}

/** First and last character of what a script is written with, and what stands between its words. */
type Script = readonly [name: string, ranges: readonly (readonly [number, number])[], between: string];

const SCRIPTS: readonly Script[] = [
  [
    'german',
    [
      [0x61, 0x7a],
      [0x61, 0x7a],
      [0xe4, 0xfc],
    ],
    ' ',
  ],
  [
    'french',
    [
      [0x61, 0x7a],
      [0x61, 0x7a],
      [0xe0, 0xff],
    ],
    ' ',
  ],
  [
    'vietnamese',
    [
      [0x61, 0x7a],
      [0x1ea0, 0x1ef9],
    ],
    ' ',
  ],
  ['cyrillic', [[0x410, 0x44f]], ' '],
  ['greek', [[0x391, 0x3c9]], ' '],
  ['arabic', [[0x620, 0x64a]], ' '],
  ['hebrew', [[0x5d0, 0x5ea]], ' '],
  ['devanagari', [[0x904, 0x94d]], ' '],
  ['bengali', [[0x985, 0x9cd]], ' '],
  ['tamil', [[0xb85, 0xbcd]], ' '],
  [
    'thai',
    [
      [0xe01, 0xe3a],
      [0xe40, 0xe4d],
    ],
    '',
  ],
  ['chinese', [[0x4e00, 0x9fa5]], ''],
  [
    'japanese',
    [
      [0x3041, 0x30fa],
      [0x4e00, 0x9fa5],
    ],
    '',
  ],
  ['korean', [[0xac00, 0xd7a3]], ' '],
  ['georgian', [[0x10d0, 0x10fa]], ' '],
  ['armenian', [[0x531, 0x587]], ' '],
  ['ethiopic', [[0x1200, 0x135a]], ' '],
  ['khmer', [[0x1780, 0x17d3]], ''],
  [
    'rare',
    [
      [0x300, 0x36f],
      [0x2581, 0x2581],
      [0xfb50, 0xfdff],
      [0x10300, 0x1f9ff],
      [0x2000, 0x206f],
    ],
    ' ',
  ],
];

const EMOJI = ['😀', '👩', '👩🏽', '🚀', '❤️', '🏳️', '🇩🇪', '🧑', '🎉', '🤷🏿'];
const MARKS = ['. ', ', ', '? ', '! ', ': ', '; ', '\n', '\n\n', ' (', ') ', ' "', '" ', ' — ', '’s ', '…'];

export function textKinds(): readonly TextKind[] {
  const prose = englishProse();
  const words = [...new Set(prose.flatMap((each) => each.match(/[A-Za-z]+/g) ?? []))];
  const english = (random: Random) => passage(prose, random);
  return [
    { name: 'english', write: english },
    ...SCRIPTS.map((script) => ({ name: script[0], write: (random: Random) => inScript(script, random) })),
    {
      name: 'emoji',
      write: (random) => repeat(random, 20, () => pick(EMOJI, random) + (random() < 0.4 ? '\u{200d}' : '')),
    },
    { name: 'code', write: (random) => repeat(random, 30, () => codeToken(words, random)) },
    {
      name: 'base64',
      write: (random) => Buffer.from(repeat(random, 60, () => character(0, 255, random))).toString('base64'),
    },
    {
      name: 'noise',
      write: (random) => repeat(random, 60, () => character(0, random() < 0.8 ? 0x7f : 0xd7ff, random)),
    },
    {
      name: 'spaces',
      write: (random) =>
        repeat(random, 20, () =>
          pick([' ', '  ', '\t', '\n', '\r\n', '\u{a0}', '\u{2003}', pick(words, random)], random),
        ),
    },
    {
      name: 'digits',
      write: (random) =>
        repeat(
          random,
          20,
          () => `${Math.floor(random() * 10 ** (random() * 12))}${pick([' ', '', '.', ',', '-'], random)}`,
        ),
    },
    {
      name: 'letters',
      write: (random) =>
        repeat(
          random,
          30,
          () => repeat(random, 6, () => character(0x61, 0x7a, random)) + pick([' ', ''], random),
        ),
    },
    { name: 'changed', write: (random) => changed(english(random), random) },
    {
      name: 'marked',
      write: (random) =>
        repeat(
          random,
          30,
          () =>
            pick(words, random) + pick([...MARKS, "'s", "'", 'é', '\u{301}', '_', '.', '▁', ' ▁ '], random),
        ),
    },
    { name: 'glued', write: (random) => repeat(random, 20, () => cased(pick(words, random), random)) },
  ];
}

function inScript([, ranges, between]: Script, random: Random): string {
  return repeat(random, 16, () => {
    const word = repeat(random, 8, () => character(...pick(ranges, random), random));
    return word + (random() < 0.2 ? pick(MARKS, random) : between);
  });
}

/** English as people write it: the documentation, without tables, lists and code. */
function englishProse(): readonly string[] {
  const root = resolve(import.meta.dirname, '../../../docs');
  const files = ['adr', 'guides', 'start'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => join(root, folder, name)),
  );
  const paragraphs = files
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) => readFileSync(path, 'utf8').split(/\n\n+/));
  return paragraphs.filter((text) => text.length > 100 && !/[|#`<{]|\]\(|^[ *\-\d]/m.test(text));
}

/** Some sentences that follow each other. */
function passage(prose: readonly string[], random: Random): string {
  const sentences = pick(prose, random)
    .replaceAll('\n', ' ')
    .split(/(?<=\.) /);
  const first = Math.floor(random() * sentences.length);
  return sentences.slice(first, first + 1 + Math.floor(random() * 3)).join(' ');
}

/** With letters that are left out, doubled, written large or exchanged, and spaces that are missing or doubled. */
function changed(text: string, random: Random): string {
  const share = random() * 0.3;
  return Array.from(text, (each) => {
    if (random() > share) return each;
    return pick(
      [
        '',
        each + each,
        each.toUpperCase(),
        character(0x61, 0x7a, random),
        `${each}'`,
        ` ${each}`,
        `${each}\u{301}`,
      ],
      random,
    );
  }).join('');
}

function codeToken(words: readonly string[], random: Random): string {
  const word = cased(pick(words, random), random);
  return pick(
    [
      `${word}(`,
      `.${word}`,
      `${word}_`,
      ' = ',
      ';\n    ',
      `"${word}"`,
      '[0]',
      '=> {\n\t',
      '//',
      `$${word}`,
      ' ',
    ],
    random,
  );
}

function cased(word: string, random: Random): string {
  return pick(
    [word, word.toLowerCase(), word.toUpperCase(), word.slice(0, 1).toUpperCase() + word.slice(1)],
    random,
  );
}

function repeat(random: Random, most: number, part: () => string): string {
  return Array.from({ length: 1 + Math.floor(random() * most) }, part).join('');
}

function character(from: number, to: number, random: Random): string {
  return String.fromCodePoint(from + Math.floor(random() * (to - from + 1)));
}

function pick<T>(from: readonly T[], random: Random): T {
  const picked = from[Math.floor(random() * from.length)];
  if (picked === undefined) throw new Error('there is nothing to pick from');
  return picked;
}
