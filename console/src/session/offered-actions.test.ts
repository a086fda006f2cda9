import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  type Access,
  allRoutes,
  allScopes,
  type RouteId,
  routeAccess,
  type Scope,
  scopesSatisfy,
  selfHostedRoutes,
} from '@relay/contract';
import fc from 'fast-check';
import { pageTable } from '../address/page-table.ts';
import { firstScopes } from '../pages/keys/first-scopes.ts';

/** A form or list that is shown by the permission for another route, which needs the same. */
const SHOWN_WITH: Partial<Record<RouteId, RouteId>> = {
  createCredential: 'updateProvider',
  updateCredential: 'updateProvider',
  deleteCredential: 'updateProvider',
  deleteProvider: 'updateProvider',
  deleteTeam: 'updateTeam',
  deleteLane: 'updateLane',
  deleteEndpoint: 'updateEndpoint',
  deleteGuardrail: 'updateGuardrail',
  deleteAlertDestination: 'updateAlertDestination',
  testAlertDestination: 'updateAlertDestination',
  updatePricingPolicy: 'createPricingPolicy',
  deletePricingPolicy: 'createPricingPolicy',
  updateLimitPolicy: 'createLimitPolicy',
  deleteLimitPolicy: 'createLimitPolicy',
  deleteUserLimitPolicy: 'upsertUserLimitPolicy',
  deleteTeamLimitPolicy: 'upsertTeamLimitPolicy',
  deleteApiKeyLimitPolicy: 'upsertApiKeyLimitPolicy',
  removeMember: 'updateMember',
  revokeApiKey: 'createApiKey',
  updateOrgApiKey: 'revokeOrgApiKey',
  planPrices: 'listPricingPolicies',
  planConfig: 'exportConfig',
  exportShowback: 'getShowback',
  listAlertDestinations: 'listAlerts',
  getUsageStatement: 'getBillingHistory',
  getGuardrail: 'listGuardrails',
  listGuardrailPresets: 'listGuardrails',
  getGuardrailTotals: 'listGuardrails',
  getGuardrailStats: 'listGuardrails',
  listInvitations: 'listMembers',
  listProviderPresets: 'listProviders',
  getLane: 'listLanes',
  listApiKeyScopes: 'createApiKey',
};

/** Routes that no page calls: the lane editor writes a lane with its endpoints in one call, and Stripe sends its own events. */
const WITHOUT_PLACE: ReadonlySet<RouteId> = new Set<RouteId>([
  'createMembership',
  'updateMembership',
  'deleteMembership',
  'receiveStripeEvent',
]);

const sources = globSync('console/src/**/*.{ts,tsx}')
  .filter((path) => !path.includes('.test.'))
  .map((path) => readFileSync(path, 'utf8'));
const named = (pattern: RegExp) => sources.flatMap((source) => [...source.matchAll(pattern)]);

const called = new Set(
  named(/\.(GET|POST|PUT|PATCH|DELETE)\(\s*'(\/[^']+)'/g).flatMap(([, method, path]) =>
    allRoutes.filter((route) => route.method === method && route.path === path).map(({ id }) => id),
  ),
);
const asked: ReadonlySet<string> = new Set([
  ...named(/\b(?:can|missing)\(\s*'(\w+)'/g).map(([, id]) => id ?? ''),
  ...pageTable.map(({ needs }) => needs),
]);
const isForSome = (access: Access) => typeof access !== 'string';

test('every form and list is shown by a permission that needs what its route needs, for every role in every mode', () => {
  assert.ok(called.size > 100, `only ${called.size} routes were seen`);
  for (const id of called) {
    if (!isForSome(routeAccess[id])) continue;
    const shownWith = asked.has(id) ? id : SHOWN_WITH[id];
    assert.ok(
      shownWith !== undefined && asked.has(shownWith),
      `${id} is called without asking for permission`,
    );
    assert.deepEqual(routeAccess[shownWith], routeAccess[id], `${id} is shown with ${shownWith}`);
    assert.equal(selfHostedRoutes.has(shownWith), selfHostedRoutes.has(id), `${id} is shown in both modes`);
  }
  for (const id of Object.keys(SHOWN_WITH))
    assert.ok([...called].includes(id as RouteId), `${id} has no place`);
});

test('every write that a role may make has a place', () => {
  const writes = allRoutes.filter(({ plane, method }) => plane === 'management' && method !== 'GET');
  const missing = writes.filter(({ id }) => called.has(id) === WITHOUT_PLACE.has(id)).map(({ id }) => id);
  assert.deepEqual(missing, []);
});

test('a new key as the form opens has only what its creator has, and something where the creator reads anything', () => {
  fc.assert(
    fc.property(fc.subarray([...allScopes]), (scopes) => {
      const held = new Set<Scope>(scopes);
      const first = firstScopes((scope) => held.has(scope));
      assert.ok(first.every((scope) => scopesSatisfy({ scope }, held)));
      assert.equal(
        first.length > 0,
        scopes.some((scope) => !scope.endsWith(':manage')),
      );
    }),
  );
});
