import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testSeed } from '@relay/testbed/random';
import fc from 'fast-check';
import {
  JsonSource,
  KEPT,
  objectSource,
  parseKeeping,
  parseObjectKeeping,
  type SourceShape,
  withMember,
  writeJson,
} from './json-source.ts';
import { jsonText, objectText } from './json-text.fixture.ts';

const SHAPE: SourceShape = { messages: [{ content: [{ input: KEPT }] }], metadata: KEPT };

/** Sources as they are, other values as JSON. */
function shown(value: unknown): string {
  return writeJson(value);
}

function forAll<T>(values: fc.Arbitrary<T>, holds: (value: T) => void): void {
  fc.assert(fc.property(values, holds), { numRuns: 500, seed: testSeed() });
}

describe('values that stay source text', () => {
  it('are written as they were read, wherever they stand', () => {
    const parts = fc.record({ before: jsonText, input: jsonText, metadata: objectText, after: jsonText });
    forAll(parts, ({ before, input, metadata, after }) => {
      const text = `{"a" : ${before}, "messages":[ ${before} ,{"x":${after},"content":[{"y":${after},"input": ${input}\n}]}],"metadata":${metadata}}`;
      const read = parseKeeping(text, SHAPE);
      const rest = JSON.parse(text) as { readonly a: unknown; readonly messages: readonly unknown[] };
      const [first] = rest.messages;
      const other: unknown = JSON.parse(after);
      assert.equal(
        shown(read),
        `{"a":${JSON.stringify(rest.a)},"messages":[${JSON.stringify(first)},{"x":${JSON.stringify(other)},"content":[{"y":${JSON.stringify(other)},"input":${input.trim()}}]}],"metadata":${metadata.trim()}}`,
      );
    });
  });

  it('leave every other value as JSON.parse reads it', () => {
    forAll(jsonText, (text) => {
      assert.deepEqual(parseKeeping(text, SHAPE), JSON.parse(text));
    });
  });

  it('are those of the last member where a name is repeated, also around them', () => {
    const twice =
      '{"metadata":{"a":1.0},"metadata":2.0,"messages":[{"content":[{"input":1.0}]}],"messages":3.0}';
    assert.equal(shown(parseKeeping(twice, SHAPE)), '{"metadata":2.0,"messages":3}');
    const first = '{"messages":3,"messages":[{"content":[{"input":1.0,"inp\\u0075t":[1.0 ]}]}]}';
    assert.equal(shown(parseKeeping(first, SHAPE)), '{"messages":[{"content":[{"input":[1.0 ]}]}]}');
  });

  it('are not looked for in text that only resembles them', () => {
    const text = '{"messages":"[{\\"content\\":[{\\"input\\":1.0}]}]","other":{"metadata":1.0}}';
    assert.deepEqual(parseKeeping(text, SHAPE), JSON.parse(text));
  });

  it('a text that is not an object has none', () => {
    for (const text of ['[1]', '1', '', '{"a":', '{"metadata":{]}'])
      assert.equal(parseObjectKeeping(text, SHAPE), null);
    assert.equal(objectSource('[1]'), null);
    assert.equal(objectSource('{} x'), null);
    assert.equal(objectSource(' {"a":1.0}')?.text, ' {"a":1.0}');
  });

  it('get a member without a change to the others', () => {
    const source = (text: string) => new JsonSource(text, JSON.parse(text));
    assert.equal(shown(withMember(source('{ "a":1.0}'), 'type', 'object')), '{"type":"object", "a":1.0}');
    assert.equal(shown(withMember(source('{ }'), 'type', 'object')), '{"type":"object" }');
    assert.equal(shown(withMember({ a: 1 }, 'type', 'object')), '{"type":"object","a":1}');
  });
});

it('writeJson writes what JSON.stringify does', () => {
  const value = {
    a: [undefined, null, 1.5, 'é\ud800'],
    b: undefined,
    c: { d: {}, e: [] },
    'f"': true,
    __proto__: null,
  };
  assert.equal(writeJson(value), JSON.stringify(value));
  forAll(jsonText, (text) => {
    const parsed: unknown = JSON.parse(text);
    assert.equal(writeJson(parsed), JSON.stringify(parsed));
  });
});
