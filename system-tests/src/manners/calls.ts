import { credentialUse } from './calls/credential-use.ts';
import { emptyBodies } from './calls/empty-bodies.ts';
import { guardrailCreation } from './calls/guardrail-creation.ts';
import { organizationName } from './calls/organization-name.ts';
import { queries } from './calls/queries.ts';
import { secrets } from './calls/secrets.ts';
import { signOut } from './calls/sign-out.ts';
import { ssoRefusals } from './calls/sso-refusals.ts';
import type { Manner } from './manner.ts';

/** What every management call has in common: methods, queries, headers, secrets, probes. */
export const callManners: readonly Manner[] = [
  ...emptyBodies,
  ...queries,
  ...guardrailCreation,
  ...secrets,
  ...organizationName,
  ...signOut,
  ...ssoRefusals,
  ...credentialUse,
];
