import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readJson } from './read-json.ts';

test('what it reads is what the browser reads, however it is laid out', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(0, 2), (value, spaces) => {
      const text = JSON.stringify(value, null, spaces);
      assert.deepEqual(readJson(text).value, JSON.parse(text));
    }),
  );
});

test('what the browser refuses is refused, and what it takes is taken', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...'{}[]",:\\ \n01-.eEtrufalsn'), maxLength: 12 }),
      (text) => {
        const { fault } = readJson(text);
        // The browser takes the last of two; a file that has two is a mistake.
        if (fault?.kind === 'twice') return;
        let expected = true;
        try {
          JSON.parse(text);
        } catch {
          expected = false;
        }
        assert.equal(fault === null, expected, text);
      },
    ),
    {
      numRuns: 5_000,
      examples: [['"\t"'], ['"\\u00e"'], ['01'], ['1.'], ['-'], ['[1,]'], ['{"a":1,}'], ['"\u007f"']],
    },
  );
});

const TEXT = `{
  "version": 1,
  "lanes": [
    { "slug": "fast", "wait": 5 }
  ]
}`;

test('a path has its line and column, and what is not there that of what is nearest above it', () => {
  const { positionOf } = readJson(TEXT);
  const shown = (path: string, of?: 'key' | 'value') => {
    const { line, column, offset } = positionOf(path, of);
    return [line, column, TEXT[offset]];
  };
  assert.deepEqual(shown('lanes[0].wait'), [4, 31, '5']);
  assert.deepEqual(shown('lanes[0].wait', 'key'), [4, 23, '"']);
  assert.deepEqual(shown('lanes[0].name'), [4, 5, '{']);
  assert.deepEqual(shown('lanes[7].name'), [3, 12, '[']);
  assert.deepEqual(shown('elsewhere'), [1, 1, '{']);
});

test('a fault has its place', () => {
  const fault = (text: string) => {
    const { kind, line, column } = readJson(text).fault ?? {};
    return [kind, line, column];
  };
  assert.deepEqual(fault(' '), ['empty', 1, 1]);
  assert.deepEqual(fault('{\n  "a": 1\n  "b": 2\n}'), ['character', 3, 3]);
  assert.deepEqual(fault('{\n  "a": [1, 2'), ['end', 2, 13]);
  assert.deepEqual(fault('{\n  "a": "x\n}'), ['text', 2, 8]);
  assert.deepEqual(fault('{ "a": 1,\n  "a": 2 }'), ['twice', 2, 3]);
  assert.deepEqual(fault('[012]'), ['number', 1, 2]);
  assert.deepEqual(fault('['.repeat(60)), ['deep', 1, 52]);
  assert.deepEqual(fault('version: 1'), ['character', 1, 1]);
});
