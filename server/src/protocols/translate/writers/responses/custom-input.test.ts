import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { CustomInput } from './custom-input.ts';

const texts: readonly [name: string, json: string, text: string][] = [
  ['plain text', '{"input":"abc"}', 'abc'],
  ['spaces around', ' { "input" : "abc" } ', 'abc'],
  ['escapes', '{"input":"a\\n\\t\\"\\\\\\/\\b\\f\\r\\u00e4"}', 'a\n\t"\\/\b\f\rä'],
  ['a pair of surrogates', '{"input":"\\ud83d\\ude00!"}', '😀!'],
  ['half a pair', '{"input":"\\ud83d!\\ude00"}', '\ud83d!\ude00'],
  ['half a pair before another escape', '{"input":"\\ud83d\\n"}', '\ud83d\n'],
  ['a line end that JSON would have escaped', '{"input":"a\nb"}', 'a\nb'],
  ['an escape that JSON does not have', '{"input":"\\d\\u12x"}', 'du12x'],
  ['nothing', '{"input":""}', ''],
  ['a text that was cut off', '{"input":"abc', 'abc'],
  ['an escape that was cut off', '{"input":"abc\\u00', 'abc'],
  ['another member first', '{"why":1,"input":"abc"}', 'abc'],
  ['another member last', '{"input":"abc","why":"x"}', 'abc'],
  ['no such member', '{"patch":"abc"}', '{"patch":"abc"}'],
  ['a member that is not text', '{"input":7}', '{"input":7}'],
  ['no JSON', '*** Begin Patch', '*** Begin Patch'],
  ['long text that is no JSON', 'x'.repeat(300), 'x'.repeat(300)],
];

describe('the text of a custom tool', () => {
  for (const [name, json, text] of texts)
    it(`is read wherever its JSON is cut: ${name}`, () => {
      for (let first = 0; first <= json.length; first += 1)
        for (let second = first; second <= json.length; second += Math.max(1, json.length >> 5))
          check([json.slice(0, first), json.slice(first, second), json.slice(second)], text);
      check([...json], text);
    });

  it('is what was written, for any text in any pieces', () => {
    const pieces = fc.array(fc.nat(), { maxLength: 6 });
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), pieces, (text, places) => {
        const json = JSON.stringify({ input: text });
        const ends = places.map((place) => place % (json.length + 1)).toSorted((a, b) => a - b);
        check(
          [...ends, json.length].map((end, index) => json.slice(ends[index - 1] ?? 0, end)),
          text,
        );
      }),
      { numRuns: 1_000 },
    );
  });
});

/** What is said on the way begins the whole text, and no piece ends inside a character. */
function check(pieces: readonly string[], text: string): void {
  const input = new CustomInput();
  const said = pieces.map((piece) => input.add(piece));
  assert.equal(input.whole(), text);
  assert.ok(text.startsWith(said.join('')), JSON.stringify([pieces, said]));
  if (text.isWellFormed()) for (const piece of said) assert.ok(piece.isWellFormed(), JSON.stringify(pieces));
}
