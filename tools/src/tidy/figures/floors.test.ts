import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { backArrows } from './floors.ts';

function arrowsOf(...pairs: readonly string[]): Map<string, Set<string>> {
  const arrows = new Map<string, Set<string>>();
  for (const [from = '', to = ''] of pairs) {
    arrows.set(from, (arrows.get(from) ?? new Set()).add(to));
    if (!arrows.has(to)) arrows.set(to, new Set());
  }
  return arrows;
}

test('arrows without a cycle never run back, however deep', () => {
  assert.deepEqual(backArrows(arrowsOf('ab', 'bc', 'cd', 'ad', 'ac')), []);
});

test('of a cycle the fewest arrows run back', () => {
  assert.deepEqual(backArrows(arrowsOf('ab', 'ba')).length, 1);
  // One arrow, d → a, closes three cycles.
  assert.deepEqual(backArrows(arrowsOf('ab', 'ac', 'bd', 'cd', 'ad', 'da')), [['d', 'a']]);
});

test('two separate cycles count apart', () => {
  assert.equal(backArrows(arrowsOf('ab', 'ba', 'cd', 'dc', 'ac')).length, 2);
});

const pairs = fc.uniqueArray(
  fc
    .tuple(fc.nat(5), fc.nat(5))
    .filter(([a, b]) => a !== b)
    .map(([a, b]) => `${'abcdef'[a]}${'abcdef'[b]}`),
  { maxLength: 20 },
);

test('without the back arrows no cycle is left, and no smaller set of arrows does that', () => {
  fc.assert(
    fc.property(pairs, (all) => {
      const back = backArrows(arrowsOf(...all)).map(([from, to]) => `${from}${to}`);
      assert.deepEqual(backArrows(arrowsOf(...all.filter((pair) => !back.includes(pair)))), []);
      for (const order of permutations([...'abcdef'])) {
        const running = all.filter(([from = '', to = '']) => order.indexOf(from) > order.indexOf(to));
        assert.ok(running.length >= back.length);
      }
    }),
    { numRuns: 25 },
  );
});

test('in a cycle too large for every order, the arrows left form no cycle', () => {
  const names = Array.from({ length: 20 }, (_, at) => String.fromCodePoint(97 + at));
  const ring = names.map((name, at) => `${name}${names[(at + 1) % names.length]}`);
  assert.equal(backArrows(arrowsOf(...ring)).length, 1);
});

function* permutations(items: readonly string[]): Generator<string[]> {
  if (items.length === 0) yield [];
  for (const [at, item] of items.entries()) {
    for (const rest of permutations(items.toSpliced(at, 1))) yield [item, ...rest];
  }
}
