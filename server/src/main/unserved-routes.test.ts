import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { it } from 'node:test';
import { sessionHandlers } from '../edge/session-routes.ts';
import { routesWithoutHandler } from '../http/management-app.ts';
import { createManagementHandlers } from '../management/index.ts';
import type { ManagementDeps } from '../management/resources/deps.ts';

// Routes of the contract that return 501. The list can only shrink: a route with a handler must leave
// it, and a new route needs a handler.
const UNSERVED: readonly string[] = [];

it('exactly these routes of the contract are not served yet', () => {
  const secret = createSecretKey(Buffer.alloc(32));
  // The test lists handlers and never calls them, so they need no real dependencies.
  const deps: Partial<Parameters<typeof sessionHandlers>[0]> = {
    secrets: { current: secret, accepted: [secret] },
    publicUrl: 'http://localhost',
    admin: null,
  };
  const sessions = sessionHandlers(deps as Parameters<typeof sessionHandlers>[0]);
  const management = createManagementHandlers({
    deployment: { mode: 'self_hosted', accounts: true, version: '0.0.0' },
  } as ManagementDeps);
  assert.deepEqual(routesWithoutHandler({ ...management, ...sessions }), UNSERVED);
});
