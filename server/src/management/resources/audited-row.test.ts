import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Caller } from '../../domain/caller.ts';
import { actorOf } from './audited-row.ts';

const session: Caller = {
  organizationId: 'o',
  userId: 'u',
  keyId: null,
  sessionId: 's',
  kind: 'session',
  scopes: new Set(),
  access: { granted: null, permissions: new Set(), plan: 'self_hosted' },
  keyPolicies: [],
};

test('the log tells a session of the admin token from one of a person', () => {
  assert.deepEqual(actorOf(session), { type: 'user', userId: 'u', keyId: null });
  assert.deepEqual(actorOf({ ...session, isAdminSession: true }), {
    type: 'admin_token',
    userId: 'u',
    keyId: null,
  });
});
