import { credentialUse } from './calls/credential-use.ts';
import { organizationName } from './calls/organization-name.ts';
import { secrets } from './calls/secrets.ts';
import { signOut } from './calls/sign-out.ts';
import { ssoRefusals } from './calls/sso-refusals.ts';
import type { Manner } from './manner.ts';

/** Management calls: what is kept of them, names, sign-in and sign-out, uses of credentials. */
export const callManners: readonly Manner[] = [
  ...secrets,
  ...organizationName,
  ...signOut,
  ...ssoRefusals,
  ...credentialUse,
];
