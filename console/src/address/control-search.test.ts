import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditSearch, billingSearch, configurationSearch } from './control-search.ts';

test('URL parameters that a page does not know are dropped', () => {
  assert.deepEqual(auditSearch({ actor: 'a', action: '', type: 'lane', target: 7, other: 'x' }), {
    actor: 'a',
    type: 'lane',
  });
  assert.deepEqual(billingSearch({ tab: 'refunds', month: '2026-11', by: 'user' }), {
    tab: 'refunds',
    month: '2026-11',
    by: 'user',
  });
  assert.deepEqual(billingSearch({ tab: 'nonsense', month: '2026-13', by: 1 }), {});
  assert.deepEqual(configurationSearch({ view: 'owned', q: 'fast' }), { view: 'owned', q: 'fast' });
  assert.deepEqual(configurationSearch({ view: 'current' }), {});
});
