import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listSearch } from './list-search.ts';

test('a list keeps its URL parameters and drops unknown ones', () => {
  assert.deepEqual(listSearch({ q: 'open ai', open: 'abc', other: 1 }), { q: 'open ai', open: 'abc' });
});

test('a query that looks like a number stays text', () => {
  assert.deepEqual(listSearch({ q: 42 }), { q: '42' });
});

test('an empty query is not a filter', () => {
  assert.deepEqual(listSearch({ q: '', open: null }), {});
});
