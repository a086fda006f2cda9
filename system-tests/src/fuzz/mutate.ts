import type { Random } from '../chaos/random.ts';

export const NASTY_TEXTS: readonly string[] = [
  ...[
    '',
    ' ',
    '\0',
    'a\0b',
    '\ufeff',
    '\u202e',
    '\ud800',
    '\udc00\ud800',
    '\u2028',
    '😀'.repeat(40),
    'é'.repeat(300),
  ],
  ...[
    "'; drop table lanes; --",
    '#{7*7}',
    '{{7*7}}',
    '<script>',
    '%00',
    '%',
    '../../etc/passwd',
    '\r\nset-cookie: a=b',
  ],
  ...[
    'null',
    'true',
    '-1',
    '1e400',
    '__proto__',
    'constructor',
    'toString',
    '0',
    '00000000-0000-0000-0000-000000000000',
  ],
  ...['2026-13-45T99:99:99.999Z', '9999-12-31T23:59:59.999Z', '0000-01-01T00:00:00.000Z', 'x'.repeat(5_000)],
  ...[
    'http://127.0.0.1:1/v1',
    'http://[::1]/',
    'https://a@b/',
    'file:///etc/passwd',
    'a@b',
    'rly_',
    '*',
    'İ',
    'ß',
  ],
];

const NASTY_NUMBERS: readonly number[] = [
  ...[0, -0, -1, 1.5, 1e21, 1e308, 2 ** 31, 2 ** 31 - 1, 2 ** 53, 2 ** 53 - 1, -(2 ** 53), 5e-324],
];

function nastyValue(random: Random): unknown {
  return random.pick<() => unknown>([
    () => random.pick(NASTY_TEXTS),
    () => random.pick(NASTY_NUMBERS),
    () => null,
    () => random.chance(0.5),
    () => [],
    () => ({}),
    () => Array.from({ length: random.between(1, 40) }, () => random.pick(NASTY_TEXTS)),
    () => nested(random.between(2, 400)),
    () => ({ [random.pick(NASTY_TEXTS)]: random.pick(NASTY_NUMBERS) }),
  ])();
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** The value with one place in it changed: replaced, removed, or with a member more. */
function mutatedValue(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random.chance(0.15)) return nastyValue(random);
  if (Array.isArray(value)) {
    const list = [...(value as unknown[])];
    if (list.length === 0 || random.chance(0.2)) return [...list, nastyValue(random)];
    const at = random.between(0, list.length - 1);
    if (random.chance(0.2)) list.splice(at, 1);
    else list[at] = mutatedValue(list[at], random);
    return list;
  }
  const entries = Object.entries(value);
  if (entries.length === 0 || random.chance(0.1)) {
    // Defined, because an assignment to __proto__ would set the prototype.
    return Object.fromEntries([...entries, [random.pick(NASTY_TEXTS), nastyValue(random)]]);
  }
  const at = random.between(0, entries.length - 1);
  if (random.chance(0.2)) entries.splice(at, 1);
  else entries[at] = [entries[at]?.[0] ?? '', mutatedValue(entries[at]?.[1], random)];
  return Object.fromEntries(entries);
}

/** Faults that only show in the text: what no serializer writes. */
const TEXT_FAULTS: readonly ((text: string, random: Random) => string)[] = [
  (text, random) => text.slice(0, random.between(0, text.length)),
  (text) => `\ufeff${text}`,
  (text) => text + text,
  (text) => `${text}\0`,
  (text) => text.replace('{', '{"model":1,"model":{},'),
  (text) => text.replace(/"(\w+)":/, '"$1":null,"$1":'),
  (text, random) =>
    text.replace(
      /:(\d+)/,
      `:${random.pick(['1e400', '-0', '1E5', '00', '0x1', '1.', '99999999999999999999'])}`,
    ),
  (text, random) => '['.repeat(random.between(100, 60_000)) + text,
  (text, random) => `${'{"a":'.repeat(random.between(10, 5_000))}${text}`,
  (text) => text.replaceAll('"', "'"),
  (text) => text.replace(/:"/, ':"\\ud800\\u0000\\x'),
  (text) => text.replaceAll(',', ' , \n\t\r'),
  (text, random) => text.replace(/\}$/, `,"pad":"${'y'.repeat(random.between(1_000, 90_000))}"}`),
  (text, random) =>
    text.replace(
      /\}$/,
      `,${Array.from({ length: random.between(10, 1_200) }, (_, at) => `"m${at}":0`).join()}}`,
    ),
];

export function mutatedText(text: string, random: Random): string {
  return random.pick(TEXT_FAULTS)(text, random);
}

/** Overwrites, cuts out and repeats bytes, so that UTF-8 breaks too. */
export function mutatedBytes(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes);
  for (let count = random.between(1, 5); count > 0 && copy.length > 0; count -= 1)
    copy[random.between(0, copy.length - 1)] = random.between(0, 255);
  if (!random.chance(0.3)) return copy;
  const [from, to] = [random.between(0, copy.length), random.between(0, copy.length)];
  return Buffer.concat([copy.subarray(0, Math.max(from, to)), copy.subarray(Math.min(from, to))]);
}

/** A token with characters changed, lost, doubled or added. */
export function mutatedToken(token: string, random: Random): string {
  const at = random.between(0, token.length - 1);
  const other = random.pick([...'aZ09_-.=~ \té\u007f']);
  return random.pick<() => string>([
    () => token.slice(0, at) + other + token.slice(at + 1),
    () => token.slice(0, at) + token.slice(at + 1),
    () => token.slice(0, at) + other + token.slice(at),
    () => token.slice(0, at),
    () => token + token,
    () => token.slice(at) + token.slice(0, at),
    () => (token.toLowerCase() === token ? token.toUpperCase() : token.toLowerCase()),
    () => `${token}${other}`,
    () => [...token].reverse().join(''),
    () =>
      random.pick(['', 'null', 'undefined', '0', 'true', '[]', '*', 'x'.repeat(random.between(1, 3_000))]),
  ])();
}

/** A whole body as bytes: of the value, mutated as often as chance has it, in structure, text and bytes. */
export function bodyOf(value: unknown, random: Random): Buffer {
  let changed = value;
  for (let count = random.pick([0, 0, 1, 1, 2, 4]); count > 0; count -= 1)
    changed = mutatedValue(changed, random);
  let text = JSON.stringify(changed) ?? '';
  if (random.chance(0.15)) text = mutatedText(text, random);
  const bytes = Buffer.from(text);
  return random.chance(0.05) ? mutatedBytes(bytes, random) : bytes;
}
