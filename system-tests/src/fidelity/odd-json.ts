import fc from 'fast-check';

// JSON texts that parsing and serializing would change.

/** What may stand between two tokens. */
export const space: fc.Arbitrary<string> = fc.constantFrom(
  '',
  '',
  '',
  '',
  ' ',
  '\n',
  '\r\n',
  '\t',
  ' \n\t\r ',
);

const lookalikes = [
  '"model":"other"',
  '\\"model\\": \\"x\\"}',
  '{"stream_options":{"include_usage":false}}',
  'data: [DONE]\n\n',
  '\\\\',
  '"',
  '}{][,:',
  '\u0000\u001f\u007f',
  '\u2028\u2029\ufeff',
  '🙂‍👩‍👧 naïve Ω 日本語 между ‮rtl',
];

/** Writes every character as an escape, as some serialisers do with everything outside ASCII. */
function escapeAll(text: string): string {
  let out = '"';
  for (let at = 0; at < text.length; at += 1) {
    out += `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }
  return `${out}"`;
}

export const stringText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ maxLength: 12 }).map((text) => JSON.stringify(text)),
  fc.string({ maxLength: 8, unit: 'binary' }).map((text) => JSON.stringify(text)),
  fc.string({ maxLength: 5, unit: 'grapheme' }).map(escapeAll),
  fc.constantFrom(...lookalikes).map((text) => JSON.stringify(text)),
  // Escapes that a serialiser would not choose, halves of surrogate pairs among them.
  fc.constantFrom(
    '"\\/\\/"',
    '"\\u00E9\\u00e9é"',
    '"\\ud83d"',
    '"\\uDE42\\ud83d"',
    '"\\b\\f\\n\\r\\t\\"\\\\"',
  ),
);

const numberText = fc.constantFrom(
  ...['0', '-0', '0.0', '1E5', '1e+05', '-0.10', '1e400', '5e-324', '0.1000000000000000055511151231257827'],
  ...['9007199254740993', '12345678901234567890123456789012345678', '-9223372036854775809', '1.0', '100e-2'],
);

/** A member's name with some, all or none of its letters written as escapes. */
export function nameText(name: string): fc.Arbitrary<string> {
  const plain = JSON.stringify(name);
  const middle = name.length >> 1;
  const code = name.charCodeAt(middle).toString(16).padStart(4, '0');
  const mixed = `"${name.slice(0, middle)}\\u${code}${name.slice(middle + 1)}"`;
  return fc.constantFrom(plain, plain, plain, mixed, escapeAll(name));
}

const anyName = fc.oneof(
  stringText,
  fc
    .constantFrom('model', 'stream_options', 'usage', 'error', '__proto__', 'constructor', '')
    .map((name) => JSON.stringify(name)),
);

const tree = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    stringText,
    numberText,
    fc.constantFrom('null', 'true', 'false'),
    tie('array'),
    tie('object'),
  ),
  array: fc
    .tuple(space, fc.array(fc.tuple(space, tie('value'), space), { maxLength: 4 }))
    .map(([gap, items]) =>
      items.length === 0 ? `[${gap}]` : `[${items.map((item) => item.join('')).join(',')}]`,
    ),
  object: fc
    .tuple(space, fc.array(fc.tuple(space, anyName, space, space, tie('value')), { maxLength: 4 }))
    .map(([gap, members]) =>
      members.length === 0
        ? `{${gap}}`
        : `{${members.map(([a, name, b, c, value]) => `${a}${name}${b}:${c}${value}`).join(',')}${gap}}`,
    ),
}));

/** Any JSON value, written oddly. */
export const valueText: fc.Arbitrary<string> = fc.oneof(
  { weight: 20, arbitrary: tree.value },
  // Deep, and still within what the gateway takes.
  {
    weight: 1,
    arbitrary: fc.integer({ min: 50, max: 240 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
  },
);

/** A member of an object: its name and value, and the space around them. */
export interface Member {
  readonly name: string;
  readonly value: string;
  readonly gaps: readonly [string, string, string, string];
}

export const gaps: fc.Arbitrary<Member['gaps']> = fc.tuple(space, space, space, space);

export const oddMember: fc.Arbitrary<Member> = fc.record({ name: anyName, value: valueText, gaps });

export function memberText({ name, value, gaps: [before, afterName, afterColon, after] }: Member): string {
  return `${before}${name}${afterName}:${afterColon}${value}${after}`;
}

/** A long string of odd characters, written without asking the generator for every one of them. */
export function longStringText(bytes: number): string {
  const unit = 'é\\u00e9\\"{}[]\\\\ model \\ud83d\\ude42🙂,: ';
  return `"${unit.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(unit))))}"`;
}
