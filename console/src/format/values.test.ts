import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isObject, keysOf, oneOf } from './values.ts';

test('the keys of a table stay in order', () => {
  assert.deepEqual(keysOf({ b: 1, a: 2 }), ['b', 'a']);
});

test('a value is one of a closed list or undefined', () => {
  assert.equal(oneOf(['a', 'b'], 'b'), 'b');
  assert.equal(oneOf(['a', 'b'], 'c'), undefined);
  assert.equal(oneOf(['1'], 1), undefined);
});

test('null and lists are not objects', () => {
  assert.deepEqual([{}, null, [], 'x'].map(isObject), [true, false, false, false]);
});
