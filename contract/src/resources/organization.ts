import Type, { type Static } from 'typebox';
import {
  changeOf,
  closed,
  EntityTag,
  Id,
  nullable,
  oneOf,
  optional,
  shownOnce,
  Timestamp,
} from '../schema.ts';
import { Role, UserStatus } from './values.ts';

const MemberTeamId = nullable(Id, {
  description:
    'The team whose limits count the requests that the member sends in the console or with a key that has no team; null for none.',
});

export const Member = closed('Member', {
  id: Id,
  name: Type.String(),
  email: Type.String(),
  role: Role,
  status: UserStatus,
  joined_at: nullable(Timestamp),
  last_seen_at: nullable(Timestamp),
  team_id: MemberTeamId,
  etag: EntityTag,
});
export type Member = Static<typeof Member>;

export const MemberUpdate = changeOf('MemberUpdate', Member, {
  role: optional(Role),
  status: optional(UserStatus),
  team_id: optional(MemberTeamId),
});
export type MemberUpdate = Static<typeof MemberUpdate>;

export const Invitation = closed('Invitation', {
  id: Id,
  email: Type.String(),
  role: Role,
  status: Type.Enum(['pending', 'accepted', 'expired'], { type: 'string' }),
  invited_by: nullable(Id),
  created_at: Timestamp,
  expires_at: Timestamp,
  etag: EntityTag,
});
export type Invitation = Static<typeof Invitation>;

/** The link is shown once; anyone who has it can join. */
export const InvitationCreated = closed('InvitationCreated', {
  invitation: Invitation,
  accept_url: shownOnce('The link for the invited person. Relay returns it only in this response.'),
  email_delivery: oneOf(['queued', 'rejected', 'not_configured'], {
    description:
      'Whether Relay sends the link by email: `queued`; `rejected`, because too many messages were sent; or `not_configured`. Share the link yourself unless it is `queued`.',
  }),
});
export type InvitationCreated = Static<typeof InvitationCreated>;

export const InvitationCreate = closed('InvitationCreate', {
  email: Type.String({ format: 'email', maxLength: 320 }),
  role: Role,
});
export type InvitationCreate = Static<typeof InvitationCreate>;
