import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failuresByKind } from './failure-kinds.ts';

const kindsOf = (failed: number, ...errors: readonly (readonly [string | null, number])[]) =>
  failuresByKind(
    failed,
    errors.map(([code, requests]) => ({ error_code: code, requests })),
  ).map(({ kind, requests }) => [kind, requests]);

test('a client error of the provider and a rejection for capacity are not failures that health counts', () => {
  assert.deepEqual(kindsOf(7, ['upstream_status_400', 3], ['upstream_status_429', 2], ['queue_full', 2]), [
    ['client', 3],
    ['capacity', 4],
  ]);
});

test('what concerns the endpoint is counted, also its own 4xx and what has no known cause', () => {
  for (const code of [
    'upstream_status_500',
    'upstream_status_404',
    'upstream_status_401',
    'upstream_timeout',
    null,
  ])
    assert.deepEqual(kindsOf(1, [code, 1]), [['counted', 1]]);
  assert.deepEqual(kindsOf(5, ['upstream_status_422', 2]), [
    ['counted', 3],
    ['client', 2],
  ]);
});

test('without failures there are no kinds', () => {
  assert.deepEqual(kindsOf(0), []);
});
