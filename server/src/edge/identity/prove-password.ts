import { RelayError } from '../../domain/relay-error.ts';
import type { BrowserCall, Proven } from './browser-call.ts';
import type { Parts } from './parts.ts';
import { findUserByEmail, type UserRow } from './people.ts';
import type { AnyCall } from './session-calls.ts';
import { takeSignIn } from './sign-in-attempt.ts';

export interface Credentials {
  readonly email: string;
  readonly password: string;
  readonly totp_code?: string | undefined;
}

/** The user whose password, and second factor if they have one, the caller has sent. Counts as an attempt to sign in. */
export async function provePassword(
  parts: Parts,
  call: BrowserCall & AnyCall,
  { email, password, totp_code: code }: Credentials,
): Promise<{ user: UserRow; method: Proven['method'] }> {
  const succeeded = await takeSignIn(parts, call, email);
  const user = await findUserByEmail(parts.deps.db, email);
  if (!(await parts.passwords.matches(user?.id ?? null, password)) || user === undefined)
    throw new RelayError('invalid_credentials');
  if (!user.two_factor_enabled) {
    await succeeded();
    return { user, method: 'password' };
  }
  if (code === undefined) {
    await succeeded();
    throw new RelayError('totp_required');
  }
  // Only a client that has the password gets here, so this limit locks out no one else.
  const accepted = await parts.attempts.take([{ kind: 'second_factor', of: user.id }]);
  if (!(await parts.secondFactor.consume(user.id, code)))
    throw new RelayError('invalid_credentials', { param: 'totp_code' });
  await accepted();
  await succeeded();
  return { user, method: 'second_factor' };
}
