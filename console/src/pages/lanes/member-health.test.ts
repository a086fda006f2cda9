import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoint, Health } from '@relay/contract';
import { decidingEndpoint, memberTrouble } from './member-health.ts';

const nowMs = Date.parse('2026-01-31T12:00:00.000Z');

function member(id: string, health: Health, over: { enabled?: boolean; reason?: string } = {}) {
  const since = new Date(nowMs - 40_000).toISOString();
  const endpoint: Endpoint = {
    id,
    provider_id: 'p',
    credential_id: null,
    name: id,
    slug: id,
    upstream_model: 'm',
    route_kind: 'chat',
    protocol: 'openai',
    supports_streaming: true,
    pacing: false,
    max_concurrency: null,
    context_window: null,
    max_latency_ms: 1_000,
    enabled: true,
    health,
    health_detail: { reason: over.reason ?? null, since, requests: 3, error_share: 1, last_error: null },
    cooldown_until: null,
  };
  return { enabled: over.enabled ?? true, endpoint };
}

const dead = member('a', 'down', { reason: 'connection refused' });

test('an endpoint that is down says so, with where its requests go', () => {
  assert.equal(
    memberTrouble([dead, member('b', 'unknown')], 'a', nowMs),
    'Down for 40 s: connection refused. Relay sends requests to the next endpoint.',
  );
});

test('the last endpoint of a lane still gets requests, and says so', () => {
  const said =
    'Down for 40 s: connection refused. No other endpoint is up, so Relay still sends requests to it.';
  assert.equal(memberTrouble([dead], 'a', nowMs), said);
  assert.equal(memberTrouble([dead, member('b', 'down')], 'a', nowMs), said);
  assert.equal(memberTrouble([dead, member('b', 'healthy', { enabled: false })], 'a', nowMs), said);
  const { enabled, endpoint } = member('b', 'healthy');
  const switchedOff = { enabled, endpoint: { ...endpoint, enabled: false } };
  assert.equal(memberTrouble([dead, switchedOff], 'a', nowMs), said);
});

test('nothing is said of what is well, unknown or switched off', () => {
  const members = [member('a', 'healthy'), member('b', 'unknown'), member('c', 'down', { enabled: false })];
  for (const id of ['a', 'b', 'c', 'd']) assert.equal(memberTrouble(members, id, nowMs), null);
});

test('a lane is as its worst endpoint is, or as a healthy one where nothing is wrong', () => {
  const of = (...members: Parameters<typeof decidingEndpoint>[0]) => decidingEndpoint(members)?.id;
  assert.equal(of(member('b', 'healthy'), member('c', 'rate_limited'), dead), 'a');
  assert.equal(of(member('b', 'healthy'), member('c', 'degraded')), 'c');
  assert.equal(of(member('b', 'unknown'), member('c', 'healthy')), 'c');
  assert.equal(of(member('b', 'unknown')), 'b');
});

test('an endpoint that gets no requests does not decide how a lane is', () => {
  const off = member('b', 'down', { enabled: false });
  assert.equal(decidingEndpoint([off, member('c', 'healthy')])?.id, 'c');
  const { enabled, endpoint } = dead;
  assert.equal(decidingEndpoint([{ enabled, endpoint: { ...endpoint, enabled: false } }]), undefined);
  assert.equal(decidingEndpoint([{ enabled, endpoint: undefined }]), undefined);
});
