import assert from 'node:assert/strict';
import { it } from 'node:test';
import { healthFindings, type Upstream } from './check-upstreams.ts';

const nowMs = Date.parse('2026-01-31T12:00:00.000Z');

function upstream(slug: string, health: Upstream['health'], reason: string | null = null): Upstream {
  const since = new Date(nowMs - 40_000).toISOString();
  const health_detail = { reason, since, requests: 3, error_share: 1, last_error: null };
  return { name: slug.toUpperCase(), slug, health, health_detail };
}

it('what is down fails with its reason, and what is degraded or rate-limited is a warning', () => {
  const all = [
    upstream('a', 'down', 'connection refused'),
    upstream('b', 'degraded', 'the latest request failed'),
    upstream('c', 'rate_limited'),
    upstream('d', 'healthy'),
  ];
  assert.deepEqual(healthFindings('endpoints', all, nowMs), [
    {
      check: 'endpoints',
      status: 'fail',
      message: 'A: down for 40 s: connection refused.',
      fix: 'Run: relay endpoints test a',
    },
    {
      check: 'endpoints',
      status: 'warn',
      message: 'B: degraded for 40 s: the latest request failed.',
      fix: 'Run: relay endpoints test b',
    },
    {
      check: 'endpoints',
      status: 'warn',
      message: 'C: rate-limited for 40 s.',
      fix: 'Run: relay endpoints test c',
    },
  ]);
});

it('what nothing was sent to is a note, neither a failure nor fine', () => {
  const all = [upstream('a', 'healthy'), upstream('b', 'unknown'), upstream('c', 'unknown')];
  const [found, ...more] = healthFindings('providers', all, nowMs);
  assert.deepEqual(more, []);
  assert.equal(found?.status, 'note');
  assert.match(found?.message ?? '', /^2 of 3 providers: health unknown/);
  assert.equal(found?.fix, 'Run: relay providers test b');
  const [one] = healthFindings('providers', all.slice(0, 2), nowMs);
  assert.equal(one?.message, 'B: health unknown, no recent requests.');
});
