import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectFiles } from './select-files.ts';

const paths = ['a/src/x.test.ts', 'a/src/x.db.test.ts', 'a/src/x.ts', 'a/src/x.suite.ts'];

test('every test file outside the black-box suites is in exactly one suite', () => {
  assert.deepEqual(selectFiles(paths, 'unit', []), ['a/src/x.test.ts']);
  assert.deepEqual(selectFiles(paths, 'db', []), ['a/src/x.db.test.ts']);
});

test('filters keep the files whose path contains one of them', () => {
  assert.deepEqual(selectFiles(paths, 'unit', ['src/x']), ['a/src/x.test.ts']);
  assert.deepEqual(selectFiles(paths, 'unit', ['b/']), []);
});

test('a test that is chosen for the embedded store and is gone is told of, and not left out', () => {
  assert.throws(
    () => selectFiles(paths, 'embedded', []),
    /these tests no longer exist: server\/src\/store\/postgres\/isolation/,
  );
});
