import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileLength } from './file-length.ts';
import { treeOf } from './tree.ts';

test('400 lines are accepted, 401 are refused, and generated files are not measured', () => {
  const long = 'x\n'.repeat(401);
  assert.deepEqual(fileLength(treeOf({ 'a.lua': 'x\n'.repeat(400), 'docs/reference/a.md': long })), []);
  assert.equal(fileLength(treeOf({ 'a.lua': long, 'b.sql': long })).length, 2);
});
