import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseJsonPath, selectValues } from './path.ts';

const answer = {
  flagged: true,
  'a b': { "it's": 1, 'say "x"': 2, back: { '\\': 3 } },
  results: [{ scores: { hate: 0.1, spam: 0.9 } }, { scores: { hate: 0.4 } }],
};

function select(path: string): readonly unknown[] {
  const parsed = parseJsonPath(path);
  if (typeof parsed === 'string') throw new assert.AssertionError({ message: parsed });
  return selectValues(parsed, answer);
}

describe('a path into an answer', () => {
  const found: readonly (readonly [string, readonly unknown[]])[] = [
    ['$', [answer]],
    ['$.flagged', [true]],
    ["$['flagged']", [true]],
    ['$["flagged"]', [true]],
    [`$['a b']['it\\'s']`, [1]],
    [`$["a b"]["it's"]`, [1]],
    [`$['a b']['say "x"']`, [2]],
    [`$['a b'].back['\\\\']`, [3]],
    ['$.results[0].scores.hate', [0.1]],
    ['$.results[-1].scores.hate', [0.4]],
    ['$.results[*].scores.hate', [0.1, 0.4]],
    ['$.results[*].scores.*', [0.1, 0.9, 0.4]],
    ['$.results[7]', []],
    ['$.flagged.deeper', []],
    ['$.missing', []],
    ['$.toString', []],
    ['$.results.length', []],
  ];
  for (const [path, values] of found) {
    it(`${path} selects ${values.length} values`, () => assert.deepEqual(select(path), values));
  }

  const refused = [
    '',
    'flagged',
    '/flagged',
    '$.',
    '$..hate',
    '$[',
    '$[01]',
    '$[0:2]',
    '$[?(@.a)]',
    "$['a]",
    '$ .a',
  ];
  for (const path of refused) {
    it(`"${path}" is refused`, () => assert.equal(typeof parseJsonPath(path), 'string'));
  }

  it('has a bound on its steps', () => {
    assert.equal(typeof parseJsonPath(`$${'.a'.repeat(32)}`), 'object');
    assert.equal(typeof parseJsonPath(`$${'.a'.repeat(33)}`), 'string');
  });

  it('counts a negative index from the end', () => {
    const at = (index: number) => {
      const path = parseJsonPath(`$[${index}]`);
      assert.ok(typeof path !== 'string');
      return selectValues(path, ['a', 'b', 'c']);
    };
    assert.deepEqual([-1, -2, -3, -4, 0, 3].map(at), [['c'], ['b'], ['a'], [], ['a'], []]);
  });
});
