import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorPages } from './error-pages.ts';
import { treeOf } from './tree.ts';

const tree = treeOf({ 'docs/reference/errors/draining.md': '', 'docs/reference/errors/README.md': '' });

test('one page for each code is accepted', () => {
  assert.deepEqual(errorPages(tree, ['draining']), []);
});

test('a code without a page is refused', () => {
  assert.equal(errorPages(tree, ['draining', 'conflict'])[0]?.path, 'docs/reference/errors/conflict.md');
});

test('a page without a code is refused, and so is a contract without codes', () => {
  assert.equal(errorPages(tree, ['conflict']).length, 2);
  assert.equal(errorPages(tree, []).length, 1);
});
