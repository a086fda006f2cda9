import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitMetrics } from './limit-metrics.ts';
import { treeOf } from './tree.ts';

const METRICS = ['red', 'green', 'blue', 'grey'];
const found = (text: string, path = 'a.ts') => limitMetrics(treeOf({ [path]: text }), METRICS, {});

test('a list, a union and a list over several lines are refused, also with one word missing', () => {
  assert.equal(found("const all = ['red', 'green', 'blue', 'grey'];")[0]?.line, 1);
  assert.equal(found("type Colour = 'red' | 'green' | 'blue' | 'grey';").length, 1);
  assert.equal(found("\nconst some = [\n  'grey',\n  'red',\n  'blue',\n];")[0]?.line, 5);
  assert.equal(found("local all = { 'red', 'green', 'blue' }", 'a.lua').length, 1);
});

test('single words, pairs, a checked table and other files are accepted', () => {
  assert.deepEqual(found("if (metric === 'red' || metric === 'green') use('blue', 1, 'grey');"), []);
  assert.deepEqual(found("type Header = 'red' | 'green';"), []);
  assert.deepEqual(
    found("const t: Record<Metric, string> = { red: 'red', green: 'green', blue: 'blue' };"),
    [],
  );
  assert.deepEqual(found("metric in ('red', 'green', 'blue', 'grey')", 'migration.sql'), []);
});

test('an exception is accepted while it is needed, and refused afterwards', () => {
  const tree = treeOf({ 'a.ts': "['red', 'green', 'blue']", 'b.ts': '' });
  assert.deepEqual(limitMetrics(tree, METRICS, { 'a.ts': 'reason' }), []);
  assert.equal(limitMetrics(tree, METRICS, { 'a.ts': 'reason', 'b.ts': 'reason' }).length, 1);
});
