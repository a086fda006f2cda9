import assert from 'node:assert/strict';
import { it } from 'node:test';
import { routesWithoutHandler } from '../http/management-app.ts';
import type { ManagementDeps } from '../management/deps.ts';
import { createManagementHandlers } from '../management/index.ts';

// Routes of the contract that answer 501. The list can only shrink: a route that gets its handler must leave
// it, and a new route of the contract comes with its handler.
const UNSERVED = [
  'applyConfig',
  'createApiKey',
  'createGuardrail',
  'createInvitation',
  'createOrgApiKey',
  'createSession',
  'deleteApiKeyLimitPolicy',
  'deleteGuardrail',
  'deleteInvitation',
  'deleteSession',
  'deleteUserLimitPolicy',
  'exportConfig',
  'exportRequests',
  'getAccount',
  'getBillingHistory',
  'getGuardrail',
  'getRequest',
  'getSession',
  'getStatsSummary',
  'getTimeseries',
  'listApiKeyLimitPolicies',
  'listApiKeyScopes',
  'listApiKeys',
  'listAuditLog',
  'listGuardrailBindings',
  'listGuardrailPresets',
  'listGuardrails',
  'listInvitations',
  'listMembers',
  'listOrgApiKeys',
  'listRequests',
  'listUserLimitPolicies',
  'planConfig',
  'removeMember',
  'renameApiKey',
  'replaceGuardrailBindings',
  'revokeApiKey',
  'revokeOrgApiKey',
  'streamRequests',
  'testEndpoint',
  'testGuardrail',
  'testProvider',
  'updateAccount',
  'updateGuardrail',
  'updateMember',
  'updatePreferences',
  'upsertApiKeyLimitPolicy',
  'upsertUserLimitPolicy',
];

it('exactly these routes of the contract are not served yet', () => {
  // Handlers are only named here, never called, so they need nothing to stand on.
  assert.deepEqual(routesWithoutHandler(createManagementHandlers({} as ManagementDeps)), UNSERVED);
});
