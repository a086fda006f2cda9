import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LimitRow } from './limit-row.ts';
import { effectOf, sentenceOf } from './limit-words.ts';

const names = {
  scope: () => 'Assistant',
  subject: ({ kind }: Pick<LimitRow, 'kind'>) => (kind === 'resource' ? null : 'Support bot'),
};
const shared = { kind: 'resource', subjectId: null, scope: 'lane', scopeId: 'l' } as const;

test('a limit is one sentence', () => {
  const spend = { ...shared, metric: 'spend', period: 'day', limit: 50_000_000 } as const;
  assert.match(sentenceOf(spend, names), /^\$?50[.,]00.* of spend each day on lane Assistant$/);
  const atOnce = { ...shared, metric: 'concurrency', period: 'none', limit: 1, scope: 'global' } as const;
  assert.equal(sentenceOf(atOnce, names), '1 request at once on everything');
  const budget = {
    ...shared,
    kind: 'api_key',
    subjectId: 'k',
    metric: 'requests',
    period: 'month',
    limit: 7,
  } as const;
  assert.equal(sentenceOf(budget, names), '7 requests each month for key Support bot on lane Assistant');
});

test('the effect of a limit is described before saving', () => {
  const rule = { ...shared, metric: 'requests', period: 'minute', limit: 100 } as const;
  assert.equal(effectOf(rule, names), 'Refuses or delays the 101st request of any minute on lane Assistant.');
  assert.equal(effectOf({ ...rule, limit: 0 }, names), 'Refuses every request on lane Assistant.');
  assert.match(
    effectOf({ ...rule, metric: 'tokens', period: 'day', limit: 9_000 }, names),
    /^Refuses or delays what would take more than 9.000 tokens in any UTC day on lane Assistant\.$/,
  );
  assert.equal(
    effectOf({ ...rule, metric: 'concurrency', period: 'none', limit: 4 }, names),
    'Refuses or delays the 5th request on lane Assistant while 4 are under way.',
  );
});
