import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LimitRow } from './limit-row.ts';
import { effectOf, sentenceOf } from './limit-words.ts';

const names = {
  scope: () => 'Assistant',
  subject: ({ kind }: Pick<LimitRow, 'kind'>) => (kind === 'resource' ? null : 'Support bot'),
};
const shared = { kind: 'resource', subjectId: null, scope: 'lane', scopeId: 'l' } as const;

test('a limit without a target is named by its owner alone', () => {
  const key = { ...shared, kind: 'api_key', subjectId: 'k', scope: 'global', metric: 'tokens' } as const;
  assert.equal(
    sentenceOf({ ...key, period: 'day', limit: 2_000_000 }, names),
    '2M tokens per day for key Support bot',
  );
});

test('a limit is one sentence', () => {
  const spend = { ...shared, metric: 'spend', period: 'day', limit: 50_000_000 } as const;
  assert.equal(sentenceOf(spend, names), '$50.00 per day on lane Assistant');
  const atOnce = { ...shared, metric: 'concurrency', period: 'none', limit: 1, scope: 'global' } as const;
  assert.equal(sentenceOf(atOnce, names), '1 concurrent request across the organization');
  const budget = {
    ...shared,
    kind: 'api_key',
    subjectId: 'k',
    metric: 'requests',
    period: 'month',
    limit: 7,
  } as const;
  assert.equal(sentenceOf(budget, names), '7 requests per month for key Support bot on lane Assistant');
});

test('the effect of a limit is described before saving', () => {
  const rule = { ...shared, metric: 'requests', period: 'minute', limit: 100 } as const;
  assert.equal(
    effectOf(rule, names),
    'Relay delays or rejects the 101st request in any minute on lane Assistant.',
  );
  assert.equal(effectOf({ ...rule, limit: 0 }, names), 'Relay rejects every request on lane Assistant.');
  assert.equal(
    effectOf({ ...rule, metric: 'tokens', period: 'day', limit: 9_000 }, names),
    'Relay delays or rejects requests that would exceed 9,000 tokens in any UTC day on lane Assistant.',
  );
  assert.equal(
    effectOf({ ...rule, metric: 'concurrency', period: 'none', limit: 4 }, names),
    'Relay delays or rejects the 5th request on lane Assistant while 4 are in flight.',
  );
});
