import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseJson } from './read-input.ts';

describe('parseJson', () => {
  const faults: readonly (readonly [text: string, place: string, what: string])[] = [
    ['{"a":1,}', '1:8', 'unexpected "}"'],
    ['{\n  "a": tru }', '2:11', 'unexpected " "'],
    ['{\n  "name": "x",\n  "enabled": yes,\n  "more": "of the same"\n}', '3:14', 'unexpected "y"'],
    ['{a:1}', '1:2', 'unexpected "a"'],
    ["{'a':1}", '1:2', 'unexpected "\'"'],
    ['{"a":1} x', '1:9', 'unexpected "x"'],
    ['{"a":"b', '1:8', 'the text ends too early'],
    ['[1,\n2', '2:2', 'the text ends too early'],
    ['', '1:1', 'the text ends too early'],
  ];
  for (const [text, place, what] of faults) {
    it(`reports line and column of the error in ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseJson(text, 'body.json'), {
        message: `body.json:${place} is not valid JSON: ${what}.`,
      });
    });
  }

  it('parses valid JSON', () => {
    assert.deepEqual(parseJson('{"a":[1,"é"]}', 'x'), { a: [1, 'é'] });
  });
});
