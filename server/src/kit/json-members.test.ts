import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { scanObject } from './json-members.ts';

const latin1 = (text: string) => Buffer.from(text, 'utf8').toString('latin1');

function spansOf(text: string, countedName: string | null = null) {
  const result = scanObject(latin1(text), 64, 1_000, countedName);
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
    ['nesting past the bound', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`, 'too_deep'],
  ];
  for (const [what, text, problem] of refused) {
    it(`refuses ${what} as ${problem}`, () => assert.equal(scanObject(text, 64), problem));
  }

  it('counts text, numbers and members of one name inside a value', () => {
    const content = [
      { type: 'picture', picture: { url: 'data:image/png;base64,AAAA' } },
      'abcd',
      1,
      [2.5e3, -1],
    ];
    const span = spansOf(JSON.stringify({ content }), 'picture').members[0];
    assert.equal(span?.counted, 1);
    assert.equal(span?.numbers, 3);
    assert.equal(span?.textBytes, 'typepicturepictureurlabcd'.length);
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

  it('stays fast on a hundred thousand levels', () => {
    assert.equal(scanObject(`{"a":${'{"a":'.repeat(100_000)}`, 64), 'too_deep');
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
