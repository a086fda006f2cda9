import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LimitUsage } from '@relay/contract';
import { byTightness } from './tightest-limits.ts';

const usage = (policy_id: string, over: Partial<LimitUsage>): LimitUsage => ({
  policy_id,
  policy_kind: 'resource',
  subject_id: null,
  scope_type: 'global',
  scope_id: null,
  metric: 'spend',
  period: 'day',
  limit: 100,
  used: 0,
  reserved: 0,
  remaining: 0,
  resets_at: null,
  rate_per_hour: null,
  forecast: null,
  runs_out_at: null,
  ...over,
});

const tightest = (...usages: readonly LimitUsage[]) => usages.toSorted(byTightness)[0]?.policy_id;

test('the larger share of a limit is tighter, with what is reserved', () => {
  const shared = usage('shared', { metric: 'concurrency', period: 'none', limit: 64, used: 3 });
  const own = usage('own', { scope_type: 'endpoint', limit: 2, used: 1, reserved: 1 });
  assert.equal(tightest(shared, own), 'own');
  assert.equal(tightest(shared, { ...own, used: 0, reserved: 0 }), 'shared');
});

test('a forecast counts as use, and what is used up counts before what will be', () => {
  const fast = usage('fast', { used: 20, forecast: 90 });
  assert.equal(tightest(usage('half', { used: 50, forecast: 60 }), fast), 'fast');
  assert.equal(tightest({ ...fast, forecast: 300 }, usage('full', { used: 100, forecast: 100 })), 'full');
});

test('of equal shares, the narrower limit is the tightest', () => {
  const scopes = ['global', 'provider', 'credential', 'endpoint'] as const;
  const [global, provider, credential, endpoint] = scopes.map((scope) =>
    usage(scope, { scope_type: scope, used: 5 }),
  );
  assert.ok(global && provider && credential && endpoint);
  assert.equal(tightest(global, provider), 'provider');
  assert.equal(tightest(provider, credential), 'credential');
  assert.equal(tightest(credential, endpoint), 'endpoint');
});

test('a limit of 0 is used up', () => {
  assert.equal(tightest(usage('most', { used: 99 }), usage('none', { limit: 0 })), 'none');
});
