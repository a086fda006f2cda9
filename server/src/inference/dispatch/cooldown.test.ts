import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cooldownUntilMs } from './cooldown.ts';

const NOW_MS = Date.UTC(2027, 0, 1);

describe('the quiet an upstream asks for', () => {
  const cases: [string, number, Record<string, string>, number | null][] = [
    ['seconds', 429, { 'retry-after': '2' }, 2_000],
    ['milliseconds before seconds', 429, { 'retry-after-ms': '1500', 'retry-after': '2' }, 1_500],
    ['a date', 503, { 'retry-after': new Date(NOW_MS + 5_000).toUTCString() }, 5_000],
    ['a date in the past', 503, { 'retry-after': new Date(NOW_MS - 5_000).toUTCString() }, 100],
    ['at once', 429, { 'retry-after': '0' }, 100],
    ['at once in milliseconds', 429, { 'retry-after-ms': '0' }, 100],
    ['less than nothing', 429, { 'retry-after': '-5' }, null],
    ['an empty text', 429, { 'retry-after': '' }, null],
    ['hours', 429, { 'retry-after': '31140' }, 31_140_000],
    ['nothing', 429, {}, null],
    ['nonsense', 429, { 'retry-after': 'soon' }, null],
    ['a server error that only says when', 500, { 'retry-after': '2' }, null],
    [
      'a window used up',
      200,
      { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '6m0s' },
      360_000,
    ],
    [
      'a window in milliseconds',
      200,
      { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '120ms' },
      120,
    ],
    [
      'a window with something left',
      200,
      { 'x-ratelimit-remaining-requests': '1', 'x-ratelimit-reset-requests': '1s' },
      null,
    ],
    ['a window without a time', 200, { 'x-ratelimit-remaining-requests': '0' }, null],
    [
      'its word before its window',
      429,
      { 'retry-after': '1', 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '9s' },
      1_000,
    ],
  ];
  for (const [what, status, headers, forMs] of cases) {
    it(`${what}: ${forMs === null ? 'none' : `${forMs} ms`}`, () => {
      assert.equal(cooldownUntilMs({ status, headers }, NOW_MS), forMs === null ? null : NOW_MS + forMs);
    });
  }
});
