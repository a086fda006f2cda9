import Type, { type Static } from 'typebox';
import { closed, flag, Id, Name, nullable, optional, Timestamp, WriteOnlySecret } from '../schema.ts';
import { ManagedBy } from './values.ts';

export const Credential = closed('Credential', {
  id: Id,
  provider_id: Id,
  name: Type.String(),
  enabled: flag(),
  created_at: Timestamp,
  last_used_at: nullable(Timestamp),
  managed_by: optional(ManagedBy),
});
export type Credential = Static<typeof Credential>;

export const CredentialCreate = closed('CredentialCreate', {
  provider_id: Id,
  name: Name,
  secret: WriteOnlySecret,
  enabled: optional(flag({ default: true })),
});
export type CredentialCreate = Static<typeof CredentialCreate>;

export const CredentialUpdate = closed('CredentialUpdate', {
  name: optional(Name),
  secret: optional(WriteOnlySecret),
  enabled: optional(flag()),
});
export type CredentialUpdate = Static<typeof CredentialUpdate>;
