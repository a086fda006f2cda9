import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Fault, faultsIn } from '../faults/fault.ts';
import { plantedFaults } from './planted-faults.ts';
import { treeOf } from './tree.ts';

const TREE = treeOf({ 'a/src/x.ts': 'if (left > 0) take(left);\n', 'a/src/x.test.ts': '' });
const fault = { name: 'takes nothing', file: 'x.ts', find: 'left > 0', replace: 'left > 1', why: '' };
const messages = (...listed: Parameters<typeof faultsIn>[1]) =>
  plantedFaults(TREE, { a: faultsIn('a/src', listed) as readonly Fault[] }).map(({ message }) => message);

test('a fault that applies once, with its test beside it, is accepted', () => {
  assert.deepEqual(messages(fault), []);
});

test('a fault whose place moved, is there twice, or whose file is gone must be moved or removed', () => {
  for (const changed of [{ find: 'left >= 0' }, { find: 'left' }, { file: 'y.ts', tests: ['x.test.ts'] }]) {
    const [message = '', ...more] = messages({ ...fault, ...changed });
    assert.match(message, /^fault 'takes nothing' no longer applies: move it or remove it/);
    assert.deepEqual(more, []);
  }
  assert.equal(
    plantedFaults(TREE, { a: faultsIn('a/src', [{ ...fault, find: '' }]) })[0]?.path,
    'tools/src/faults/lists/a.ts',
  );
});

test('a fault that changes nothing, repeats a name or names a missing test is refused', () => {
  assert.match(messages({ ...fault, replace: fault.find }).join(), /changes nothing/);
  assert.match(messages(fault, fault).join(), /has the name of another/);
  assert.match(messages({ ...fault, tests: ['/b/y.test.ts'] }).join(), /a test that is gone: b\/y\.test\.ts/);
});
