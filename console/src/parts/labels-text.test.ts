import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelsOf, textOf } from './labels-text.ts';

test('labels are read back as they are written, and a value may contain an equals sign', () => {
  const labels = { app: 'search', env: 'a=b' };
  assert.deepEqual(labelsOf(textOf(labels)), labels);
  assert.deepEqual(labelsOf(' app = search ,, '), { app: 'search' });
  assert.deepEqual(labelsOf(''), {});
});

test('text without a name or a value is no label', () => {
  for (const typed of ['app', '=search', 'app=', 'app=search, env']) assert.equal(labelsOf(typed), null);
});
