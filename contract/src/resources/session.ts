import Type, { type Static } from 'typebox';
import { closed, nullable, Timestamp, WriteOnlySecret } from '../schema.ts';
import { Org, User } from './account.ts';
import { Role } from './values.ts';

/** A browser session of the console. The cookie itself is HTTP-only and never part of a body. */
export const Session = closed('Session', {
  user: User,
  org: Org,
  role: Role,
  csrf_token: Type.String({ description: 'Sent back in the x-csrf-token header on every write.' }),
  expires_at: nullable(Timestamp),
});
export type Session = Static<typeof Session>;

export const SessionCreate = closed('SessionCreate', { token: WriteOnlySecret });
export type SessionCreate = Static<typeof SessionCreate>;
