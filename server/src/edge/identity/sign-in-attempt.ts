import { setTimeout as pause } from 'node:timers/promises';
import { tooManyAttempts } from './attempts.ts';
import type { Parts } from './parts.ts';
import { plainEmail } from './people.ts';
import { type AnyCall, clientOf } from './session-calls.ts';
import { isKnownAddress } from './sign-in-origins.ts';

/**
 * Counts an attempt to sign in with a password, and waits for its turn. A client is rejected for its own failures only.
 * Failures from elsewhere make it wait, unless the account has signed in from its address before. The returned function
 * gives the attempt back.
 */
export async function takeSignIn(parts: Parts, call: AnyCall, email: string): Promise<() => Promise<void>> {
  const account = plainEmail(email);
  const client = clientOf(call);
  const pair = { kind: 'account_and_client', of: `${account} ${client.of}` } as const;
  const giveBack = await parts.attempts.take([pair, client]);
  if (await isKnownAddress(parts.deps, account, call)) return giveBack;
  const turn = await parts.line.take(account);
  if (turn.kind === 'rejected') {
    await giveBack();
    throw tooManyAttempts(turn.retryMs);
  }
  if (turn.waitMs > 0) await pause(turn.waitMs);
  return async () => {
    await Promise.all([giveBack(), turn.giveBack()]);
  };
}
