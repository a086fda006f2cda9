import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileLength } from './file-length.ts';
import { treeOf } from './tree.ts';

const long = 'x\n'.repeat(401);

test('400 lines are accepted and 401 are refused', () => {
  assert.deepEqual(fileLength(treeOf({ 'a.ts': 'x\n'.repeat(400) }), {}), []);
  assert.equal(fileLength(treeOf({ 'a.ts': long }), {}).length, 1);
});

test('a listed file may be long, and generated files are not measured', () => {
  const tree = treeOf({ 'a.sql': long, 'contract/openapi.json': long, 'docs/reference/a.md': long });
  assert.deepEqual(fileLength(tree, { 'a.sql': 'one schema, read in one piece' }), []);
});

test('a list entry that is no longer needed is refused', () => {
  const found = fileLength(treeOf({ 'a.ts': 'x\n' }), { 'a.ts': 'was long', 'b.ts': 'was there' });
  assert.equal(found.length, 2);
});
