import assert from 'node:assert/strict';
import { test } from 'node:test';
import { machineTraces } from './machine-traces.ts';
import { treeOf } from './tree.ts';

// Put together here, because this file is part of the tree that the rule reads.
const homePath = ['', 'home', 'someone', 'relay'].join('/');
const registry = ['registry', 'example', 'org'].join('.');
const lockEntry = `"${'resolved'}": "${'http'}s://example.org/a.tgz"`;

test('paths of the product and addresses in tests are accepted', () => {
  const tree = treeOf({
    'a.ts': "import a from './work/x.ts'; fetch('http://127.0.0.1:1/home/page'); route('/v1/models');",
    'b.md': 'the registry of errors',
  });
  assert.deepEqual(machineTraces(tree), []);
});

for (const [what, text] of [
  ['an absolute path', `const a = '${homePath}';`],
  ['a registry host', `https://${registry}/`],
  ['a pinned download address', `  ${lockEntry}`],
] as const) {
  test(`${what} is refused with its line`, () => {
    const found = machineTraces(treeOf({ 'package-lock.json': `{\n${text}\n}` }));
    assert.deepEqual(
      found.map(({ line }) => line),
      [2],
    );
  });
}
