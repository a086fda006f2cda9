import fc from 'fast-check';

/** Spellings that parsing and writing again would change. */
const ODD_NUMBERS = [
  '1234567890123456789',
  '-9223372036854775808',
  '18446744073709551616',
  '1.0',
  '-0',
  '-0.0',
  '1e400',
  '-1E+400',
  '1e-400',
  '0.10000000000000000555',
  '3.1400',
  '1E5',
];
const ODD_STRINGS = [
  '"\\u0041"',
  '"\\/"',
  '"\\ud83d\\ude00"',
  '"\\ud800"',
  '"\\\\\\""',
  '"]}\\""',
  '"{\\"input\\":1}"',
  '"\u2028é\u{1F600}"',
  '"\\u0000"',
];
const ODD_NAMES = [
  '"a"',
  '"\\u0061"',
  '"input"',
  '"inp\\u0075t"',
  '"__proto__"',
  '"constructor"',
  '""',
  '"1"',
];

const space = fc.constantFrom('', '', '', ' ', '\n\t', '\r\n');
const scalar = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...ODD_NUMBERS) },
  { weight: 2, arbitrary: fc.constantFrom(...ODD_STRINGS) },
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom('true', 'false', 'null'),
);

const { value, object } = fc.letrec<{ readonly value: string; readonly object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    { weight: 3, arbitrary: scalar },
    { weight: 1, arbitrary: tie('object') },
    { weight: 1, arbitrary: between('[', fc.array(spaced(tie('value')), { maxLength: 3 }), ']') },
  ),
  object: between(
    '{',
    fc.array(
      fc
        .tuple(spaced(fc.oneof(fc.constantFrom(...ODD_NAMES), scalarName())), spaced(tie('value')))
        .map(([name, given]) => `${name}:${given}`),
      { maxLength: 4 },
    ),
    '}',
  ),
}));

/** JSON as no serializer writes it: odd numbers, escapes, duplicate names and white space. */
export const jsonText = value;
export const objectText = object;

function scalarName(): fc.Arbitrary<string> {
  return fc.stringMatching(/^[a-z]{1,6}$/).map((name) => JSON.stringify(name));
}

function spaced(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(space, text, space).map((pieces) => pieces.join(''));
}

function between(open: string, items: fc.Arbitrary<readonly string[]>, close: string): fc.Arbitrary<string> {
  return fc
    .tuple(items, space)
    .map(([each, more]) => open + (each.length === 0 ? more : each.join(',')) + close);
}
