import {
  Account,
  AccountUpdate,
  ApiKeyCreate,
  ApiKeyCreated,
  ApiKeyList,
  ApiKeyScopes,
  ApiKeyUpdate,
  PreferencesUpdate,
  UserEnvelope,
} from '../resources/account.ts';
import { BillingHistory } from '../resources/deployment.ts';
import { Session, SessionCreate } from '../resources/session.ts';
import { noContent, type RouteTable } from '../route-definition.ts';
import { PageQuery, params } from '../schema.ts';

const account = { plane: 'management', tag: 'Account' } as const;
const keys = { plane: 'management', tag: 'API keys' } as const;
const session = { plane: 'management', tag: 'Session' } as const;

export const accountRoutes = {
  getAccount: {
    ...account,
    method: 'GET',
    path: '/api/account',
    summary: 'Read the caller’s account',
    success: { status: 200, schema: Account },
  },
  updateAccount: {
    ...account,
    method: 'PATCH',
    path: '/api/account',
    summary: 'Rename the caller',
    body: AccountUpdate,
    success: { status: 200, schema: UserEnvelope },
    errors: ['accounts_disabled'],
  },
  updatePreferences: {
    ...account,
    method: 'PATCH',
    path: '/api/account/preferences',
    summary: 'Change the caller’s preferences',
    body: PreferencesUpdate,
    success: { status: 200, schema: UserEnvelope },
    errors: ['accounts_disabled'],
  },
  listApiKeys: {
    ...keys,
    method: 'GET',
    path: '/api/account/api-keys',
    summary: 'List the caller’s API keys',
    query: PageQuery,
    success: { status: 200, schema: ApiKeyList },
  },
  createApiKey: {
    ...keys,
    method: 'POST',
    path: '/api/account/api-keys',
    summary: 'Create an API key; the secret is returned once',
    body: ApiKeyCreate,
    success: { status: 201, schema: ApiKeyCreated },
    errors: ['accounts_disabled', 'idempotency_conflict'],
  },
  listApiKeyScopes: {
    ...keys,
    method: 'GET',
    path: '/api/account/api-key-scopes',
    summary: 'List the scopes a new key of the caller may hold',
    success: { status: 200, schema: ApiKeyScopes },
  },
  renameApiKey: {
    ...keys,
    method: 'PATCH',
    path: '/api/account/api-keys/{api_key_id}',
    summary: 'Rename an API key',
    params: params('api_key_id'),
    body: ApiKeyUpdate,
    success: noContent,
    errors: ['accounts_disabled'],
  },
  revokeApiKey: {
    ...keys,
    method: 'DELETE',
    path: '/api/account/api-keys/{api_key_id}',
    summary: 'Revoke an API key',
    params: params('api_key_id'),
    success: noContent,
    errors: ['accounts_disabled'],
  },
  getBillingHistory: {
    ...account,
    method: 'GET',
    path: '/api/billing/history',
    summary: 'Read the billing history',
    success: { status: 200, schema: BillingHistory },
  },
  createSession: {
    ...session,
    method: 'POST',
    path: '/api/session',
    summary: 'Sign in to the console',
    body: SessionCreate,
    success: { status: 201, schema: Session },
    errors: ['invalid_api_key'],
  },
  getSession: {
    ...session,
    method: 'GET',
    path: '/api/session',
    summary: 'Read the current browser session',
    success: { status: 200, schema: Session },
  },
  deleteSession: {
    ...session,
    method: 'DELETE',
    path: '/api/session',
    summary: 'Sign out of the console',
    success: noContent,
  },
} as const satisfies RouteTable;
