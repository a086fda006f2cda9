import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  dollarWords,
  durationWords,
  healthName,
  healthSentence,
  limitRuleWords,
  recentWords,
  sizeWords,
} from './index.ts';

it('a duration is said in the two units that matter', () => {
  const said: readonly (readonly [number, string])[] = [
    [0, '0 s'],
    [-5, '0 s'],
    [40, '40 ms'],
    [0.2, '0 s'],
    [340, '340 ms'],
    [1_000, '1 s'],
    [1_540, '1.5 s'],
    [12_000, '12 s'],
    [60_000, '1 min'],
    [200_000, '3 min 20 s'],
    [(8 * 60 + 39) * 60_000, '8 h 39 min'],
    [24 * 3_600_000, '1 d'],
    [74 * 3_600_000, '3 d 2 h'],
  ];
  for (const [ms, words] of said) assert.equal(durationWords(ms), words);
});

it('a duration that rounds to the next unit is said in that unit', () => {
  assert.equal(durationWords(999.7), '1 s');
  assert.equal(durationWords(9_960), '10 s');
  assert.equal(durationWords(59_700), '1 min');
  assert.equal(durationWords(119_700), '2 min');
  assert.equal(durationWords(7_199_700), '2 h');
  assert.equal(durationWords(3_599_700), '1 h');
  assert.equal(durationWords(86_399_000), '1 d');
});

it('the time until something is never said shorter than it is', () => {
  assert.equal(durationWords(9_001, Math.ceil), '9.1 s');
  assert.equal(durationWords(12_001, Math.ceil), '13 s');
  assert.equal(durationWords(8 * 3_600_000 + 1, Math.ceil), '8 h 1 min');
});

it('a limit is said with its window, and one without a window as concurrent requests', () => {
  const rule = (
    metric: Parameters<typeof limitRuleWords>[0]['metric'],
    period: string,
    limit_value: number,
  ) => limitRuleWords({ metric, period, limit_value });
  assert.equal(rule('requests', 'minute', 100), '100 requests per minute');
  assert.equal(rule('tokens', 'day', 60_000), '60,000 tokens per day');
  assert.equal(rule('spend', 'month', 50_000_000), '$50.00 per month');
  assert.equal(rule('concurrency', 'none', 1), '1 concurrent request');
});

it('a size is said in binary units', () => {
  const said = [512, 65_536, 1_572_864, 20_971_520].map(sizeWords);
  assert.deepEqual(said, ['512 B', '64 KiB', '1.5 MiB', '20 MiB']);
});

it('money is said in dollars, and no amount is rounded away', () => {
  assert.equal(dollarWords(0), '$0.00');
  assert.equal(dollarWords(1), '$0.000001');
  assert.equal(dollarWords(12_500_000), '$12.50');
  assert.equal(dollarWords(-42_000), '-$0.042');
  assert.equal(dollarWords(5_000_000_000), '$5,000.00');
});

const detail = { reason: null, since: null, requests: 0, error_share: null, last_error: null };
const nowMs = Date.parse('2026-01-31T12:00:00.000Z');
const beforeMs = (ms: number) => new Date(nowMs - ms).toISOString();

it('health is said with how long and why', () => {
  const down = { ...detail, reason: 'connection refused', since: beforeMs(40_000) };
  assert.equal(
    healthSentence({ health: 'down', health_detail: down }, nowMs),
    'Down for 40 s: connection refused.',
  );
  const limited = { ...detail, reason: 'the provider answered 429.', since: beforeMs(100) };
  const seen = { health: 'rate_limited', health_detail: limited, cooldown_until: beforeMs(-90_000) } as const;
  assert.equal(
    healthSentence(seen, nowMs),
    'Rate-limited for 1 s: the provider answered 429. Relay sends requests to it again in 1 min 30 s.',
  );
  const well = { ...detail, since: beforeMs(7_500_000), requests: 3, error_share: 0 };
  assert.equal(healthSentence({ health: 'healthy', health_detail: well }, nowMs), 'Healthy for 2 h 5 min.');
});

it('what nothing was sent to is neither healthy nor in alarm', () => {
  assert.equal(
    healthSentence({ health: 'unknown', health_detail: detail }, nowMs),
    'Idle: no requests in the last 15 min or since its configuration changed.',
  );
  assert.equal(healthName('unknown'), 'Idle');
});

it('the share of errors is never rounded to none or to all', () => {
  const said = (requests: number, share: number | null) =>
    recentWords({ ...detail, requests, error_share: share });
  assert.equal(said(0, null), '0 requests in the last 5 min');
  assert.equal(said(1, 1), '1 request in the last 5 min, 1 failed');
  assert.equal(said(2, 1), '2 requests in the last 5 min, all failed');
  assert.equal(said(40, 0.125), '40 requests in the last 5 min, 12.5% failed');
  assert.equal(said(40, 0), '40 requests in the last 5 min, none failed');
  assert.equal(said(100_000, 0.00001), '100,000 requests in the last 5 min, 0.1% failed');
  assert.equal(said(100_000, 0.99999), '100,000 requests in the last 5 min, 99.9% failed');
});
