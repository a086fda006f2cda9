import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testJob } from './group-files.ts';
import type { JobResult } from './job.ts';
import { judgeRun } from './judge-run.ts';
import type { TestResult } from './test-result.ts';

const passed = (name: string): TestResult => ({ outcome: 'passed', file: 'a.test.ts', name, ms: 1 });
const failed = (name: string, isJudged = true): TestResult => ({
  ...passed(name),
  outcome: 'failed',
  reason: 'why',
  isJudged,
});

function resultOf(name: string, tests: readonly TestResult[]): JobResult {
  const job = testJob(name, ['a.test.ts']);
  return { job, tests, wallS: 1, cpuS: 1, runDelayS: 0, figures: null, logFile: '' };
}

const judge = (first: readonly TestResult[], second: readonly TestResult[]) =>
  judgeRun([resultOf('unit a', first)], () => Promise.resolve(resultOf('unit a', second)));
const names = (tests: readonly { name: string }[]) => tests.map(({ name }) => name);

test('a test that fails once is unsteady, and one that fails twice has failed', async () => {
  const verdict = await judge(
    [failed('x'), failed('y'), passed('z')],
    [failed('x'), passed('y'), passed('z')],
  );
  assert.deepEqual(names(verdict.unsteady), ['y']);
  assert.deepEqual(names(verdict.failed), ['x']);
});

test('a leak beside a bound that is not judged still fails the run', async () => {
  const tests = [failed('answers within 50 ms', false), failed('blocked text reached the provider')];
  const verdict = await judge(tests, tests);
  assert.deepEqual(names(verdict.notJudged), ['answers within 50 ms']);
  assert.deepEqual(names(verdict.failed), ['blocked text reached the provider']);
});

test('a bound that is judged in the second run fails', async () => {
  const verdict = await judge([failed('in time', false)], [failed('in time', true)]);
  assert.deepEqual(names(verdict.failed), ['in time']);
});

test('more failed jobs than are repeated all fail', async () => {
  const first = Array.from({ length: 9 }, (_, index) => resultOf(`unit ${index}`, [failed(`x${index}`)]));
  const verdict = await judgeRun(first, () => assert.fail('a job was repeated'));
  assert.equal(verdict.failed.length, 9);
});
