import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { JsonOutline } from './json-outline.ts';

const RULES = { kept: new Set(['response', 'usage', 'type']), text: new Set(['content', 'text']) };

function read(text: string, cuts: readonly number[] = []) {
  const outline = new JsonOutline(RULES);
  const latin1 = Buffer.from(text).toString('latin1');
  const places = [...new Set([0, ...cuts.map((cut) => cut % (latin1.length + 1)), latin1.length])];
  places.sort((a, b) => a - b);
  for (let index = 0; index + 1 < places.length; index += 1)
    outline.push(latin1.slice(places[index], places[index + 1]));
  const json = outline.json();
  const value: unknown = json === null ? null : JSON.parse(Buffer.from(json, 'latin1').toString());
  return { value, isComplete: outline.isComplete, textBytes: outline.textBytes };
}

/** What the outline of a value should be, for values that need no bound. */
function expected(value: unknown, depth = 1): unknown {
  if (Array.isArray(value)) return [];
  if (typeof value === 'string') return Buffer.byteLength(JSON.stringify(value)) - 2 > 128 ? '...' : value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth > 5) return {};
  const members = Object.entries(value).map(([name, each]) => [name, expected(each, depth + 1)] as const);
  return Object.fromEntries(members);
}

const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ minLength: 120, maxLength: 150 }),
);
const { object } = fc.letrec<{ value: unknown; object: object }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    fc.constantFrom(null, true, false, 0, -1.5e-7, 1e21),
    fc.integer(),
    texts,
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.dictionary(
    fc.oneof(fc.constantFrom('usage', 'content', 'type', 'response'), fc.string({ maxLength: 5 })),
    tie('value'),
    { maxKeys: 4, noNullPrototype: true },
  ),
}));
const spaces = fc.constantFrom(undefined, 1, '\t');
const cuts = fc.array(fc.nat(), { maxLength: 30 });

describe('the outline of a JSON object', () => {
  it('has its members without the content of arrays, long strings and deep objects, wherever pieces end', () => {
    fc.assert(
      fc.property(object, spaces, cuts, (value, space, places) => {
        const text = JSON.stringify(value, null, space);
        const whole = read(text);
        assert.deepEqual(whole.value, expected(JSON.parse(text)));
        assert.equal(whole.isComplete, true);
        assert.deepEqual(read(text, places), whole);
      }),
      { numRuns: 1_000 },
    );
  });

  it('has the members that were complete where the object is cut', () => {
    const text = '{"a":[1,{"b":"x"}],"usage":{"in":12,"out":345},"text":"abc","n":1}';
    const whole = '{"a":[],"usage":{"in":12,"out":345},"text":"abc","n":1}';
    for (let end = 1; end < text.length; end += 1) {
      const { value, isComplete } = read(text.slice(0, end));
      assert.equal(isComplete, false);
      const json = JSON.stringify(value).replaceAll('}', '');
      assert.ok(whole.replaceAll('}', '').startsWith(json), `${json} of ${text.slice(0, end)}`);
    }
    assert.deepEqual(read(text.slice(0, text.indexOf('345') + 2)).value, { a: [], usage: { in: 12 } });
    assert.deepEqual(read(text.slice(0, text.indexOf('345') + 4)).value, {
      a: [],
      usage: { in: 12, out: 345 },
    });
  });

  it('keeps the members that it has to, however much is before them and whoever wrote it', () => {
    const filler = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`k${index}`, { usage: { x: 'y' } }]),
    );
    const usage = { input_tokens: 3, details: { cached: 1 } };
    const response = { metadata: { ...filler, usage: { usage: filler } }, ...filler, usage };
    const { value, isComplete } = read(JSON.stringify({ ...filler, response, type: 'done' }));
    assert.equal(isComplete, true);
    const outline = value as { type: string; response: { usage: unknown } };
    assert.deepEqual(outline.response.usage, usage);
    assert.equal(outline.type, 'done');
    assert.ok(JSON.stringify(outline).length < 16 * 1024);
  });

  it('reads names in any spelling, and leaves out what is not spelled as JSON', () => {
    assert.deepEqual(read('{"us\\u0061ge":1,"a":01,"b":tru,"c":"\\x","d":"a\nb","usage":2}').value, {
      c: '...',
      d: '...',
      usage: 2,
    });
    assert.deepEqual(read('\ufeff {"a":1} x').value, { a: 1 });
    assert.deepEqual(read('{"a":1 "b":2}').value, { a: 1 });
    for (const text of ['', ' ', '[1]', 'text', '"{}"']) assert.equal(read(text).value, null);
  });

  it('counts the bytes of text at any level, also of a string that is cut', () => {
    const choices = [
      { delta: { content: 'a"b', role: 'assistant' } },
      { message: { content: ['no', { text: 'é' }] } },
    ];
    const text = JSON.stringify({ choices, content: 'four', name: 'text', list: ['content', 'no'] });
    assert.equal(read(text).textBytes, 4 + 2 + 4);
    assert.equal(read(text, [3, 17, 28, 29, 30, 31, 60, 61, 70]).textBytes, 4 + 2 + 4);
    assert.equal(read('{"choices":[{"content":"abcd').textBytes, 4);
    assert.equal(read('{"choices":[{"content":"ab","other":"cd').textBytes, 2);
  });
});
