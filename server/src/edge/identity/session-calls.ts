import type { RouteId } from '@relay/contract';
import { RelayError } from '../../domain/relay-error.ts';
import type { Call } from '../../http/call.ts';
import type { Subject } from './attempts.ts';
import { addressOf, countedAddress } from './client-address.ts';
import type { Parts } from './parts.ts';
import type { LiveSession } from './sessions.ts';

export type AnyCall = Pick<Call<RouteId>, 'header' | 'remoteAddress'>;

/** The session that the authenticator accepted. It may have ended since. */
export async function sessionOf(parts: Parts, call: AnyCall): Promise<LiveSession> {
  const session = await parts.sessions.find(call.header('cookie'));
  if (session === null) throw new RelayError('session_expired');
  return session;
}

export function clientOf(call: AnyCall): Subject {
  return { kind: 'client', of: countedAddress(addressOf(call)) };
}

export function actorOf(session: LiveSession): { type: 'user' | 'admin_token'; userId: string } {
  return { type: session.isAdmin ? 'admin_token' : 'user', userId: session.userId };
}
