import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from './count-results.ts';

test('a passing test counts once and a passing suite not at all', () => {
  assert.equal(judge({ type: 'test:pass', data: { name: 'a', nesting: 0 } }).outcome, 'passed');
  assert.equal(
    judge({ type: 'test:pass', data: { name: 'a', details: { type: 'suite' } } }).outcome,
    'ignored',
  );
});

test('a skipped test and a test to be written count as failures', () => {
  assert.equal(judge({ type: 'test:pass', data: { name: 'a', skip: true } }).outcome, 'failed');
  assert.equal(judge({ type: 'test:pass', data: { name: 'a', todo: 'later' } }).outcome, 'failed');
});

test('a file that holds no test counts as a failure', () => {
  const data = { name: '/x/a.test.ts', file: '/x/a.test.ts', nesting: 0 };
  assert.equal(judge({ type: 'test:pass', data }).outcome, 'failed');
});

test('a failure counts where it happened and not again in its parent', () => {
  const failed = { name: 'a', details: { error: new Error('boom') } };
  assert.match(judge({ type: 'test:fail', data: failed }).reason, /boom/);
  const parent = { name: 'b', details: { error: { failureType: 'subtestsFailed' } } };
  assert.equal(judge({ type: 'test:fail', data: parent }).outcome, 'ignored');
});
