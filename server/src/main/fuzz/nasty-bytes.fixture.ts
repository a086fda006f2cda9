import fc from 'fast-check';

/** Numbers, names and texts that parsers get wrong. Written as JSON, so that what JSON cannot express is there too. */
const NASTY_JSON: readonly string[] = [
  ...['0', '-0', '-1', '1.5', '1e400', '-1e400', '1E+2', '9007199254740991', '9007199254740993'],
  ...['18446744073709551616', '1e-400', '00', '+1', '.5', '0x10', 'NaN', 'Infinity', 'null', 'true', 'nul'],
  ...['""', '"\\u0000"', '"\\ud800"', '"\\udc00\\ud800"', '"\\x"', '"\u2028"', '"\ufeff"', "'a'", '"'],
  ...[
    '[]',
    '{}',
    '[[]]',
    '[,]',
    '[1,]',
    '{"a":1,}',
    '{"a"}',
    '{"":{}}',
    '{"__proto__":{"x":1}}',
    '//',
    '\ufeff',
  ],
];

const nastyText = fc.oneof(
  fc.constantFrom(...NASTY_JSON),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.integer({ min: 1, max: 400 }).map((depth) => '['.repeat(depth)),
  fc.integer({ min: 1, max: 400 }).map((depth) => '{"a":'.repeat(depth)),
);

interface Edit {
  readonly at: number;
  readonly cut: number;
  readonly put: string;
}

const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  cut: fc.nat({ max: 12 }),
  put: nastyText,
});

const noise = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  byte: fc.integer({ min: 0, max: 255 }),
});

/** One of the samples, with pieces cut out, put in and overwritten, and perhaps only a part of it. */
export function mutated(samples: readonly string[]): fc.Arbitrary<Buffer> {
  return fc
    .record({
      sample: fc.constantFrom(...samples),
      edits: fc.array(edit, { maxLength: 4 }),
      bytes: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, fc.array(noise, { maxLength: 4 })),
      keep: fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, fc.double({ min: 0, max: 1, noNaN: true })),
    })
    .map(({ sample, edits, bytes, keep }) => {
      let text = sample;
      for (const { at, cut, put } of edits) {
        const place = Math.floor(at * text.length);
        text = text.slice(0, place) + put + text.slice(place + cut);
      }
      const whole = Buffer.from(text);
      const kept = whole.subarray(0, Math.floor(keep * whole.length));
      for (const { at, byte } of bytes) kept[Math.floor(at * kept.length)] = byte;
      return kept;
    });
}

/** Places at which a body of any length is cut, as shares of it. */
export const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });

export function pieces(bytes: Buffer, shares: readonly number[]): Buffer[] {
  const places = [0, ...shares.map((share) => Math.floor(share * bytes.length)), bytes.length].sort(
    (a, b) => a - b,
  );
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}
