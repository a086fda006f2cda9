import Type, { type Static } from 'typebox';
import {
  changeOf,
  closed,
  EntityTag,
  flag,
  Id,
  Name,
  nullable,
  optional,
  shownOnce,
  Timestamp,
} from '../schema.ts';
import { Labels, Role, UserStatus } from './values.ts';

/**
 * The user that the tokens of a self-hosted deployment act for, in `user_uuid` of the keys and limits made with them. It has a
 * membership, because keys, limits and sessions need one, but it is not a person: no route changes or removes it.
 */
export const DEPLOYMENT_USER_ID = '00000000-0000-7000-8000-000000000002';

export const User = closed('User', {
  id: Id,
  name: Type.String(),
  email: Type.String(),
  status: UserStatus,
  marketing_opt_in: flag(),
});
export type User = Static<typeof User>;

export const Org = closed('Org', { id: Id, name: Type.String() });
export type Org = Static<typeof Org>;

export const OrgUpdate = changeOf('OrgUpdate', Org, { name: Name });

export const Account = closed('Account', { user: User, org: Org, role: Role });
export type Account = Static<typeof Account>;

export const UserEnvelope = closed('UserEnvelope', { user: User });

export const AccountUpdate = changeOf('AccountUpdate', User, { name: Name });
export const PreferencesUpdate = changeOf('PreferencesUpdate', User, { marketing_opt_in: flag() });

const TeamId = nullable(Id, {
  description:
    'The team whose limits count the key’s requests; null for the owner’s team. Setting a different team, or changing it later, requires `relay:limits:manage`.',
});

export const ApiKey = closed('ApiKey', {
  id: Id,
  user_uuid: Id,
  name: Type.String(),
  key_prefix: Type.String({ description: 'The first characters of the key, which are not secret.' }),
  product_key: Type.String({ description: 'Currently always `model_relay`.' }),
  scopes: Type.Array(Type.String()),
  status: Type.Enum(['active', 'revoked', 'expired'], { type: 'string' }),
  created_at: Timestamp,
  first_used_at: nullable(Timestamp, {
    description: 'Null before the first use, and for keys first used with an earlier version of Relay.',
  }),
  last_used_at: nullable(Timestamp, { description: 'Accurate to about a minute.' }),
  expires_at: nullable(Timestamp),
  revoked_at: nullable(Timestamp),
  team_id: TeamId,
  labels: Labels,
  etag: EntityTag,
});
export type ApiKey = Static<typeof ApiKey>;

export const ApiKeyList = closed('ApiKeyList', { api_keys: Type.Array(ApiKey) });

const attributed = { team_id: optional(TeamId), labels: optional(Labels) };

/** The server checks scope names itself, so that the error names the unknown one. */
const RequestedScopes = Type.Array(Type.String(), { minItems: 1, maxItems: 100 });

const apiKeyFields = {
  name: Name,
  scopes: RequestedScopes,
  expires_at: optional(nullable(Timestamp, { description: 'A future time, or null for no expiry.' })),
  ...attributed,
};

export const ApiKeyCreate = closed('ApiKeyCreate', apiKeyFields);
export type ApiKeyCreate = Static<typeof ApiKeyCreate>;

export const ApiKeyUpdate = changeOf('ApiKeyUpdate', ApiKey, { name: Name, ...attributed });
export type ApiKeyUpdate = Static<typeof ApiKeyUpdate>;

/** What an administrator may change of any key. */
export const OrgApiKeyUpdate = changeOf('OrgApiKeyUpdate', ApiKey, attributed);
export type OrgApiKeyUpdate = Static<typeof OrgApiKeyUpdate>;

export const ApiKeyCreated = closed('ApiKeyCreated', {
  api_key: shownOnce('The secret. Relay returns it only in this response.'),
  key: ApiKey,
});

export const ApiKeyScopes = closed('ApiKeyScopes', { scopes: Type.Array(Type.String()) });

/** A key for another member of the organization. */
export const OrgApiKeyCreate = closed('OrgApiKeyCreate', { user_uuid: Id, ...apiKeyFields });
export type OrgApiKeyCreate = Static<typeof OrgApiKeyCreate>;
