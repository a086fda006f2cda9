import { credentialUse } from './calls/credential-use.ts';
import { secrets } from './calls/secrets.ts';
import { ssoRefusals } from './calls/sso-refusals.ts';
import type { Manner } from './manner.ts';

/** Management calls: what is kept of them, sign-in, uses of credentials. */
export const callManners: readonly Manner[] = [...secrets, ...ssoRefusals, ...credentialUse];
