import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Credential, Endpoint, Membership, Provider } from '@relay/contract';
import { holdsUpAll, reachOf, standsInWay } from './lane-reach.ts';
import type { LimitRow } from './limit-row.ts';

const sources = {
  memberships: [
    { lane_id: 'l', endpoint_id: 'e1', enabled: true },
    { lane_id: 'l', endpoint_id: 'off', enabled: false },
    { lane_id: 'other', endpoint_id: 'e3', enabled: true },
  ] as Membership[],
  endpoints: [
    { id: 'e1', provider_id: 'p1', credential_id: null },
    { id: 'off', provider_id: 'p2', credential_id: null },
    { id: 'e3', provider_id: 'p3', credential_id: 'c3' },
  ] as Endpoint[],
  providers: [
    { id: 'p1', auth_mode: 'bearer_static' },
    { id: 'p2', auth_mode: 'none' },
  ] as Provider[],
  credentials: [
    { id: 'newer', provider_id: 'p1', enabled: true, created_at: '2026-02-01T00:00:00Z' },
    { id: 'oldest', provider_id: 'p1', enabled: true, created_at: '2026-01-01T00:00:00Z' },
    { id: 'off', provider_id: 'p1', enabled: false, created_at: '2025-01-01T00:00:00Z' },
  ] as Credential[],
};

const inWay = (scope: LimitRow['scope'], scopeId: string | null) =>
  standsInWay({ scope, scopeId }, reachOf('l', sources));

test('limits apply to a lane globally, on the lane and on what its endpoints use', () => {
  assert.ok(inWay('global', null));
  assert.ok(inWay('lane', 'l'));
  assert.ok(inWay('endpoint', 'e1'));
  assert.ok(inWay('model', 'e1'));
  assert.ok(inWay('provider', 'p1'));
  assert.ok(inWay('credential', 'oldest'));
});

test('limits on other lanes, disabled endpoints and other credentials do not apply', () => {
  assert.ok(!inWay('lane', 'other'));
  assert.ok(!inWay('endpoint', 'off'));
  assert.ok(!inWay('provider', 'p2'));
  assert.ok(!inWay('endpoint', 'e3'));
  assert.ok(!inWay('credential', 'newer'));
  assert.ok(!inWay('credential', 'c3'));
});

test('a limit on one of several endpoints leaves the others as fallback', () => {
  const memberships = [
    ...sources.memberships,
    { lane_id: 'l', endpoint_id: 'e3', enabled: true } as Membership,
  ];
  const two = reachOf('l', { ...sources, memberships });
  assert.ok(!holdsUpAll({ scope: 'endpoint', scopeId: 'e1' }, two));
  assert.ok(!holdsUpAll({ scope: 'provider', scopeId: 'p1' }, two));
  assert.ok(holdsUpAll({ scope: 'lane', scopeId: 'l' }, two));
  assert.ok(holdsUpAll({ scope: 'global', scopeId: null }, two));
  assert.ok(holdsUpAll({ scope: 'provider', scopeId: 'p1' }, reachOf('l', sources)));
});
