import { newSignInLetter } from '../../mail/letters.ts';
import type { BrowserCall, Proven } from './browser-call.ts';
import { browserName } from './browser-name.ts';
import { addressOf } from './client-address.ts';
import type { Parts } from './parts.ts';
import { readUser } from './people.ts';
import { noteOrigin } from './sign-in-origins.ts';

/** Sign-ins that an alert can be about: the others are the user's first, or have no user. */
const ALERTED: ReadonlySet<Proven['method']> = new Set(['password', 'second_factor', 'single_sign_on']);

/** Records where a user has signed in from, and tells them when address or browser are new. The first one is not news. */
export async function noteSignIn({ deps }: Parts, call: BrowserCall, proven: Proven): Promise<void> {
  if (proven.method === 'admin_token') return;
  const origin = await noteOrigin(deps, proven.userId, call);
  if (origin !== 'new' || deps.mail === null || !ALERTED.has(proven.method)) return;
  const { email } = await readUser(deps.db, proven.userId);
  await deps.mail.post(
    newSignInLetter({
      to: email,
      at: new Date(deps.clock.nowMs()),
      address: addressOf(call),
      browser: browserName(call.header('user-agent')),
      settingsUrl: `${deps.publicUrl}/console/settings`,
    }),
  );
}
