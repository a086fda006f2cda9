import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { scanObject, scanSteps } from './json-members.ts';

const latin1 = (text: string) => Buffer.from(text, 'utf8').toString('latin1');
/** More than the scan reads as text in one piece. */
const MANY = 40_000;

function spansOf(text: string) {
  const result = scanObject(Buffer.from(text), 64, 1_000);
  if (typeof result === 'string') throw new Error(`unexpected ${result}`);
  return result;
}

describe('scanObject', () => {
  it('finds every wanted member of the top level, duplicates and escaped names included', () => {
    const text = '{"model":"a","x":{"model":"no"},"mod\\u0065l" : [1, "}"] , "y":["model"],"model":"b"}';
    const found = spansOf(text).members.filter(({ name }) => name === 'model');
    const values = found.map(({ start, end }) => latin1(text).slice(start, end));
    assert.deepEqual(values, ['"a"', '[1, "}"]', '"b"']);
  });

  it('counts positions in bytes, not characters', () => {
    const text = '{"é":"日本","model":"ü"}';
    const span = spansOf(text).members[1];
    assert.equal(Buffer.from(text).subarray(span?.start, span?.end).toString(), '"ü"');
  });

  it('is not misled by quotes, braces and backslashes inside strings', () => {
    const text = JSON.stringify({ a: '\\', b: '"model":"x"}', c: '\\"', model: 'right' });
    const [span, ...others] = spansOf(text).members.filter(({ name }) => name === 'model');
    assert.equal(text.slice(span?.start, span?.end), '"right"');
    assert.equal(others.length, 0);
  });

  const refused: [string, string, string][] = [
    ['an array', '[1]', 'not_an_object'],
    ['nothing', '', 'not_an_object'],
    ['a cut-off string', '{"a":"b', 'broken'],
    ['a cut-off object', '{"a":{"b":1}', 'broken'],
    ['a missing colon', '{"a" 1}', 'broken'],
    ['a trailing comma', '{"a":1,}', 'broken'],
    ['numbers without a comma', '{"a":[1 2]}', 'broken'],
    ['brackets that do not match', '{"a":[1}}', 'broken'],
    ['a name without a value', '{"a":{"b"}}', 'broken'],
    ['a comma before the end of a list', '{"a":[1,]}', 'broken'],
    ['a comma before the end of a nested object', '{"a":{"b":1,}}', 'broken'],
    ['a bare word', '{"a":[x]}', 'broken'],
    ['text after the end', '{"a":1} x', 'broken'],
    ['two objects', '{"a":1}{"b":2}', 'broken'],
    ['a list that ends in a minus and a comma', '{"a":[1,-,]}', 'broken'],
    ['two commas in a list', '{"a":[1,,2]}', 'broken'],
    ['a word after a number', '{"a":[1,2"x"]}', 'broken'],
    ['a list of numbers that is cut off', '{"a":[1,2', 'broken'],
    ['a string that ends in an escaped quote', `{"a":"${'x'.repeat(MANY)}\\"}`, 'broken'],
    ['a string that ends in a backslash', '{"a":"x\\', 'broken'],
    ['nesting past the bound', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`, 'too_deep'],
  ];
  for (const [what, text, problem] of refused) {
    it(`refuses ${what} as ${problem}`, () => assert.equal(scanObject(Buffer.from(text), 64), problem));
  }

  it('accepts nesting up to the bound, and not one level more', () => {
    const nested = (levels: number) =>
      Buffer.from(`{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`);
    assert.equal(typeof scanObject(nested(64), 64), 'object');
    assert.equal(scanObject(nested(65), 64), 'too_deep');
  });

  it('counts text, numbers and literals inside a value', () => {
    const content = [{ type: 'picture', picture: { url: 'data:,x' } }, 'abcd', 1, [2.5e3, -1], true, null];
    const span = spansOf(JSON.stringify({ content })).members[0];
    assert.equal(span?.scalars, 5);
    assert.equal(span?.textBytes, 'typepicturepictureurldata:,xabcd'.length);
  });

  it('counts a number that is longer than a token id as text', () => {
    const digits = '1'.repeat(1_000);
    const span = spansOf(`{"a":[1234567,${digits},12345678,{"b":${digits}}]}`).members[0];
    assert.equal(span?.scalars, 4);
    assert.equal(span?.textBytes, 2_001);
  });

  it('accepts every text that JSON.parse accepts, and finds the same members', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()),
        fc.nat(4),
        (object, indent) => {
          const found = spansOf(JSON.stringify(object, null, indent));
          const text = Buffer.from(JSON.stringify(object, null, indent));
          const values = found.members.map(
            ({ start, end }) => JSON.parse(text.subarray(start, end).toString()) as unknown,
          );
          assert.deepEqual(values, Object.values(JSON.parse(text.toString()) as object));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('finds the end of a string wherever its quotes and backslashes lie', () => {
    const pieces = fc.constantFrom('x', 'xyz', '\\', '"', '\n', 'é', '{', '"}', '\\"', 'x'.repeat(11));
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), fc.nat(3), fc.nat(40), (parts, cut, before) => {
        // The text between two windows of the scan falls on any of the pieces.
        const first = 'x'.repeat(32 * 1024 - before);
        const text = JSON.stringify({
          [parts.slice(0, cut).join('')]: 1,
          a: first + parts.join(''),
          b: [1, 2],
        });
        const bytes = Buffer.from(text);
        const values = spansOf(text).members.map(({ start, end }) => bytes.toString('utf8', start, end));
        assert.deepEqual(
          values.map((value) => JSON.parse(value) as unknown),
          Object.values(JSON.parse(text) as object),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('refuses what is cut off at any byte', () => {
    const text = JSON.stringify({ a: 'x"\\'.repeat(9), b: [1, -2.5e-3, [true, null], {}], c: { d: '' } });
    for (let length = 1; length < text.length; length += 1)
      assert.equal(scanObject(Buffer.from(text.slice(0, length)), 64), 'broken', text.slice(0, length));
  });

  it('counts numbers with and without spaces between them', () => {
    for (const list of ['[1,2,-3,4e5]', '[1, 2,-3 ,4e5]', '[[1,2],[-3,4e5],[],"5"]'])
      assert.equal(spansOf(`{"a":${list}}`).members[0]?.scalars, 4, list);
  });

  it('stays fast on a hundred thousand levels', () => {
    assert.equal(scanObject(Buffer.from(`{"a":${'{"a":'.repeat(100_000)}`), 64), 'too_deep');
  });

  it('pauses every few thousand bytes, whatever they are, so that a large body does not block the event loop', () => {
    const bytes = 2_000_000;
    const many = (unit: string) => unit.repeat(bytes / unit.length);
    const texts = {
      members: `{${many('"b":1,')}"a":1}`,
      lists: `{"a":[${many('[],')}1]}`,
      objects: `{"a":[${many('{"b":1},')}1]}`,
      numbers: `{"a":[${many('1,')}1]}`,
      'spaced numbers': `{"a":[${many(' 1 , ')}1]}`,
      literals: `{"a":[${many('null,')}1]}`,
      'escapes in text': `{"a":"${many('\\"')}"}`,
      'escapes in a name': `{"${many('\\"')}":1}`,
      'escapes in a nested name': `{"a":{"${many('\\"')}":1}}`,
    };
    for (const [name, text] of Object.entries(texts)) {
      const scan = scanSteps(Buffer.from(text), 64);
      let steps = 1;
      let step = scan.next();
      for (; step.done !== true; step = scan.next()) steps += 1;
      assert.equal(typeof step.value, 'object', name);
      assert.ok(steps >= bytes / 65_536, `${name}: ${steps} steps`);
    }
  });

  it('finds the end of a string that pauses beside or inside an escape', () => {
    // Without a quote in it, a string is searched this far before the search pauses.
    const plainStep = 1024 * 1024;
    for (const escaped of ['\\"', '\\\\', '\\\\\\"', '\\"\\"\\"'])
      for (let before = plainStep - 64; before < plainStep + 16; before += 1) {
        const text = `{"a":"${'x'.repeat(before)}${escaped}y","b":1}`;
        assert.deepEqual(
          spansOf(text).members.map(({ name }) => name),
          ['a', 'b'],
          `${escaped} after ${before}`,
        );
      }
  });

  it('counts text across pauses as without them', () => {
    const text = '\\"'.repeat(100_000);
    const [member] = spansOf(`{"a":[{"${text}":"${text}"},"x"]}`).members;
    assert.equal(member?.textBytes, 4 * 100_000 + 1);
  });

  it('takes endless white space for a broken body instead of reading it', () => {
    assert.equal(scanObject(Buffer.from(`{"a":${' '.repeat(1_000_000)}1}`), 64), 'broken');
    assert.equal(typeof scanObject(Buffer.from(`{"a":${' '.repeat(10_000)}1}`), 64), 'object');
  });

  it('replacing a found value changes exactly that value, for any object JSON can hold', () => {
    const objects = fc.dictionary(
      fc.oneof(fc.constant('model'), fc.string({ unit: 'binary' })),
      fc.jsonValue(),
    );
    const spaces = fc.constantFrom('', ' ', '\n', '\t ');
    fc.assert(
      fc.property(objects, spaces, (object, space) => {
        const text = JSON.stringify(object, null, space);
        const parsed = JSON.parse(text) as Record<string, unknown>;
        const found = spansOf(text);
        const bytes = Buffer.from(text);
        const span = found.members.find(({ name }) => name === 'model');
        assert.equal(span !== undefined, Object.hasOwn(parsed, 'model'));
        assert.equal(bytes[found.closing], 0x7d);
        if (span === undefined) return;
        const replaced = Buffer.concat([
          bytes.subarray(0, span.start),
          Buffer.from('"new"'),
          bytes.subarray(span.end),
        ]);
        assert.deepEqual(JSON.parse(replaced.toString()), { ...parsed, model: 'new' });
      }),
      { numRuns: 500 },
    );
  });
});
