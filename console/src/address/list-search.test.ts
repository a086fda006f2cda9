import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listSearch } from './list-search.ts';

test('an address keeps the words of a list and drops what it does not know', () => {
  assert.deepEqual(listSearch({ q: 'open ai', open: 'abc', other: 1 }), { q: 'open ai', open: 'abc' });
});

test('a word that looks like a number stays a word', () => {
  assert.deepEqual(listSearch({ q: 42 }), { q: '42' });
});

test('an empty word is no filter', () => {
  assert.deepEqual(listSearch({ q: '', open: null }), {});
});
