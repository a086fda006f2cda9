import Type, { type Static } from 'typebox';
import { SecretRef, slugOf, without } from '../config-item.ts';
import type { ResourceDefinition } from '../resource-definition.ts';
import { changeErrors, createErrors, noContent } from '../route-definition.ts';
import {
  changeOf,
  closed,
  EntityTag,
  flag,
  Id,
  Name,
  nullable,
  optional,
  PageQuery,
  params,
  Timestamp,
  WriteOnlySecret,
} from '../schema.ts';
import { ManagedBy } from './values.ts';

export const Credential = closed('Credential', {
  id: Id,
  provider_id: Id,
  name: Type.String(),
  enabled: flag(),
  created_at: Timestamp,
  last_used_at: nullable(Timestamp),
  managed_by: optional(ManagedBy),
  etag: EntityTag,
});
export type Credential = Static<typeof Credential>;

export const CredentialCreate = closed('CredentialCreate', {
  provider_id: Id,
  name: Name,
  secret: WriteOnlySecret,
  enabled: optional(flag({ default: true })),
});
export type CredentialCreate = Static<typeof CredentialCreate>;

export const CredentialUpdate = changeOf('CredentialUpdate', Credential, {
  name: optional(Name),
  secret: optional(WriteOnlySecret),
  enabled: optional(flag()),
});
export type CredentialUpdate = Static<typeof CredentialUpdate>;

export const ConfigCredential = closed('ConfigCredential', {
  provider: slugOf('the provider it is for'),
  ...without(CredentialCreate.properties, 'provider_id', 'secret'),
  secret_ref: SecretRef,
});
export type ConfigCredential = Static<typeof ConfigCredential>;

const shared = { plane: 'management', tag: 'Credentials' } as const;
const read = { scope: 'relay:providers:read' } as const;
const manage = { scope: 'relay:providers:manage' } as const;

export const credentialResource = {
  order: 20,
  routes: {
    listCredentials: {
      ...shared,
      method: 'GET',
      path: '/api/relay/credentials',
      access: read,
      summary: 'List credentials, without their secrets',
      query: PageQuery,
      success: { status: 200, schema: Type.Array(Credential) },
    },
    createCredential: {
      ...shared,
      method: 'POST',
      path: '/api/relay/credentials',
      access: manage,
      summary: 'Store a provider credential',
      body: CredentialCreate,
      success: { status: 201, schema: Credential },
      errors: [...createErrors, 'managed_by_file'],
    },
    updateCredential: {
      ...shared,
      method: 'PUT',
      path: '/api/relay/credentials/{credential_id}',
      access: manage,
      summary: 'Rename, enable, disable or replace a credential',
      params: params('credential_id'),
      body: CredentialUpdate,
      success: { status: 200, schema: Credential },
      errors: changeErrors,
    },
    deleteCredential: {
      ...shared,
      method: 'DELETE',
      path: '/api/relay/credentials/{credential_id}',
      access: manage,
      summary: 'Delete a credential',
      params: params('credential_id'),
      success: noContent,
      errors: changeErrors,
    },
  },
  section: {
    name: 'credentials',
    noun: 'credential',
    item: ConfigCredential,
    scopes: { read: read.scope, manage: manage.scope },
  },
} as const satisfies ResourceDefinition;
