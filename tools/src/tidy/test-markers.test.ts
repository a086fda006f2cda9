import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testMarkers } from './test-markers.ts';
import { treeOf } from './tree.ts';

// Put together here, because this file is itself a test that the rule reads.
const dot = '.';

test('plain tests, and markers outside tests, are accepted', () => {
  const tree = treeOf({
    'a.test.ts': "test('x', () => {}); rows.skip(3);",
    'a.ts': `queue${dot}skip()`,
  });
  assert.deepEqual(testMarkers(tree), []);
});

for (const marker of ['only', 'skip', 'todo']) {
  test(`a test marked ${marker} is refused, by call and by option`, () => {
    const tree = treeOf({
      'a.test.ts': `test${dot}${marker}('x', () => {});\nit('y', { ${marker}: true }, () => {});`,
    });
    assert.deepEqual(
      testMarkers(tree).map(({ line }) => line),
      [1, 2],
    );
  });
}

test('a test that leaves itself out while running is refused', () => {
  assert.equal(testMarkers(treeOf({ 'a.test.ts': `t${dot}skip('no server')` })).length, 1);
});
