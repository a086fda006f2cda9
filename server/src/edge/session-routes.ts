import type { Handlers } from '../http/call.ts';
import type { IdentityDeps } from './identity/deps.ts';
import { joiningHandlers } from './identity/joining-routes.ts';
import { createParts } from './identity/parts.ts';
import { passwordResetHandlers } from './identity/password-reset-routes.ts';
import { securityHandlers } from './identity/security-routes.ts';
import { signInHandlers } from './identity/sign-in-routes.ts';
import { ssoHandlers } from './identity/sso-routes.ts';

/** The identity routes: signing in and out, joining, and changing how users sign in. */
export function sessionHandlers(deps: IdentityDeps): Handlers {
  const parts = createParts(deps);
  return {
    ...signInHandlers(parts),
    ...joiningHandlers(parts),
    ...ssoHandlers(parts),
    ...securityHandlers(parts),
    ...passwordResetHandlers(parts),
  };
}
