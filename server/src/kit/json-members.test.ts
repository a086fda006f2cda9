import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { scanObject } from './json-members.ts';

const WANTED = new Set(['model', 'usage']);
const latin1 = (text: string) => Buffer.from(text, 'utf8').toString('latin1');

function spansOf(text: string) {
  const result = scanObject(latin1(text), WANTED, 64);
  if (typeof result === 'string') throw new Error(`unexpected ${result}`);
  return result;
}

describe('scanObject', () => {
  it('finds every wanted member of the top level, duplicates and escaped names included', () => {
    const text = '{"model":"a","x":{"model":"no"},"mod\\u0065l" : [1, "}"] , "y":["model"],"model":"b"}';
    const values = spansOf(text).members.map(({ start, end }) => latin1(text).slice(start, end));
    assert.deepEqual(values, ['"a"', '[1, "}"]', '"b"']);
  });

  it('counts positions in bytes, not characters', () => {
    const text = '{"é":"日本","model":"ü"}';
    const [span] = spansOf(text).members;
    assert.equal(Buffer.from(text).subarray(span?.start, span?.end).toString(), '"ü"');
  });

  it('is not misled by quotes, braces and backslashes inside strings', () => {
    const text = JSON.stringify({ a: '\\', b: '"model":"x"}', c: '\\"', model: 'right' });
    const [span, ...others] = spansOf(text).members;
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
    ['text after the end', '{"a":1} x', 'broken'],
    ['two objects', '{"a":1}{"b":2}', 'broken'],
    ['nesting past the bound', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`, 'too_deep'],
  ];
  for (const [what, text, problem] of refused) {
    it(`refuses ${what} as ${problem}`, () => assert.equal(scanObject(text, WANTED, 64), problem));
  }

  it('stays fast on a hundred thousand levels', () => {
    assert.equal(scanObject(`{"a":${'{"a":'.repeat(100_000)}`, WANTED, 64), 'too_deep');
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
