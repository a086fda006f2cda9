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
import {
  BillingHistory,
  StripeEvent,
  StripeEventReceipt,
  UsageStatement,
  UsageStatementQuery,
} from '../resources/billing.ts';
import { noContent, type RouteTable } from '../route-definition.ts';
import { PageQuery, params } from '../schema.ts';

const account = { plane: 'management', tag: 'Account' } as const;
const keys = { plane: 'management', tag: 'API keys' } as const;
const billing = { plane: 'management', tag: 'Billing' } as const;

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
    errors: ['version_conflict'],
  },
  updatePreferences: {
    ...account,
    method: 'PATCH',
    path: '/api/account/preferences',
    summary: 'Change the caller’s preferences',
    body: PreferencesUpdate,
    success: { status: 200, schema: UserEnvelope },
    errors: ['version_conflict'],
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
    errors: ['accounts_disabled', 'version_conflict'],
  },
  revokeApiKey: {
    ...keys,
    method: 'DELETE',
    path: '/api/account/api-keys/{api_key_id}',
    summary: 'Revoke an API key',
    params: params('api_key_id'),
    success: noContent,
    errors: ['accounts_disabled', 'version_conflict'],
  },
  getBillingHistory: {
    ...billing,
    method: 'GET',
    path: '/api/billing/history',
    summary: 'Read the billing history',
    success: { status: 200, schema: BillingHistory },
  },
  getUsageStatement: {
    ...billing,
    method: 'GET',
    path: '/api/billing/usage-statements',
    summary: 'Read what a month’s usage comes to by configured prices, for each user and key; not an invoice',
    query: UsageStatementQuery,
    success: { status: 200, schema: UsageStatement },
  },
  receiveStripeEvent: {
    ...billing,
    method: 'POST',
    path: '/api/billing/stripe-webhook',
    summary: 'Take an event of Stripe, verified by its signature (hosted)',
    body: StripeEvent,
    rawBody: true,
    success: { status: 200, schema: StripeEventReceipt },
    errors: ['mode_unsupported'],
  },
} as const satisfies RouteTable;
