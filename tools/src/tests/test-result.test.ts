import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resultOf } from './test-result.ts';

const file = '/x/a.test.ts';

test('a passing test counts once and a passing suite not at all', () => {
  assert.equal(resultOf({ type: 'test:pass', data: { name: 'a', file } })?.outcome, 'passed');
  assert.equal(resultOf({ type: 'test:pass', data: { name: 'a', file, details: { type: 'suite' } } }), null);
});

test('a skipped test, a test to be written and a file without a test are failures', () => {
  assert.equal(resultOf({ type: 'test:pass', data: { name: 'a', file, skip: true } })?.outcome, 'failed');
  assert.equal(resultOf({ type: 'test:pass', data: { name: 'a', file, todo: 'later' } })?.outcome, 'failed');
  for (const name of [file, 'a.test.ts', 'x/a.test.ts'])
    assert.equal(resultOf({ type: 'test:pass', data: { name, file, nesting: 0 } })?.outcome, 'failed');
});

test('a failure counts where it happened and not again in its parent', () => {
  const error = Object.assign(new Error('1 subtest failed'), { failureType: 'subtestsFailed' });
  assert.equal(resultOf({ type: 'test:fail', data: { name: 'a', file, details: { error } } }), null);
});

test('only a declared bound on time whose processes waited for a core is not judged', () => {
  const isJudged = (cause: unknown) => {
    const error = Object.assign(new Error('failed', { cause }), { failureType: 'testCodeFailure' });
    const result = resultOf({ type: 'test:fail', data: { name: 'a', file, details: { error } } });
    return result?.outcome === 'failed' && result.isJudged;
  };
  const bound = (judged: boolean) => Object.assign(new Error('late'), { code: 'RELAY_TIME_BOUND', judged });
  assert.equal(isJudged(bound(false)), false);
  assert.equal(isJudged(bound(true)), true);
  assert.equal(isJudged(new Error('blocked text reached the provider')), true);
  assert.equal(isJudged(Object.assign(new Error('x'), { judged: false })), true);
});
