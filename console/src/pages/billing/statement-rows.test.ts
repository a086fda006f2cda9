import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UsageStatement } from '@relay/contract';
import { monthsUpTo, statementCsv, statementRows } from './statement-rows.ts';

const usage = {
  requests: 3,
  metered_requests: 2,
  estimated_requests: 1,
  unpriced_requests: 0,
  input_tokens: 100,
  cached_input_tokens: 10,
  output_tokens: 50,
  metered_spend_micros: 1_234,
  metered_spend_usd: '0.0012340002',
  fallback_cost_micros: 34,
  fallback_cost_usd: '0.0000340001',
};
const statement: UsageStatement = {
  month: '2026-11',
  period_start: '2026-11-01T00:00:00.000Z',
  period_end: '2026-12-01T00:00:00.000Z',
  complete: false,
  basis: 'configured_prices',
  currency: 'USD',
  totals: { ...usage, requests: 5 },
  lines: [
    { user_uuid: 'u1', user_name: 'Ada', api_key_id: 'k1', api_key_name: '=SUM(A1)', ...usage },
    { user_uuid: 'u2', user_name: null, api_key_id: null, api_key_name: null, ...usage },
  ],
  next_cursor: null,
};

test('former members and usage without a key are labeled', () => {
  const names = statementRows(statement, 'key', 'API token').map(({ user, key }) => [user, key]);
  assert.deepEqual(names, [
    ['Ada', '=SUM(A1)'],
    ['Former member', 'API token'],
  ]);
  assert.equal(statementRows(statement, 'organization', 'API token')[0]?.requests, 5);
  const unused = { ...statement, totals: { ...usage, requests: 0 } };
  assert.deepEqual(statementRows(unused, 'organization', 'API token'), []);
});

test('the CSV has the same rows and numbers, and says that it is not an invoice', () => {
  assert.equal(
    statementCsv(statement, 'key', 'API token'),
    'month,basis,currency,user,user_id,api_key,api_key_id,requests,metered_requests,estimated_requests,unpriced_requests,input_tokens,cached_input_tokens,output_tokens,metered_spend_micros,metered_spend_usd,fallback_cost_micros,fallback_cost_usd\r\n' +
      "2026-11,configured_prices,USD,Ada,u1,'=SUM(A1),k1,3,2,1,0,100,10,50,1234,0.0012340002,34,0.0000340001\r\n" +
      '2026-11,configured_prices,USD,Former member,u2,API token,,3,2,1,0,100,10,50,1234,0.0012340002,34,0.0000340001\r\n',
  );
  assert.match(
    statementCsv(statement, 'organization', 'API token'),
    /\r\n2026-11,configured_prices,USD,5,2,/,
  );
});

test('months count back from the current one across years', () => {
  assert.deepEqual(monthsUpTo(Date.UTC(2027, 1, 28)).slice(0, 4), [
    '2027-02',
    '2027-01',
    '2026-12',
    '2026-11',
  ]);
});
