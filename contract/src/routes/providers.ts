import Type from 'typebox';
import { ProviderTestResult } from '../resources/connection-test.ts';
import { Credential, CredentialCreate, CredentialUpdate } from '../resources/credential.ts';
import { PricingPolicy, PricingPolicyCreate, PricingPolicyUpdate } from '../resources/pricing.ts';
import { Provider, ProviderCreate, ProviderUpdate } from '../resources/provider.ts';
import { noContent, type RouteTable } from '../route-definition.ts';
import { PageQuery, params } from '../schema.ts';

const providers = { plane: 'management', tag: 'Providers' } as const;
const credentials = { plane: 'management', tag: 'Credentials' } as const;
const pricing = { plane: 'management', tag: 'Pricing' } as const;

const createErrors = ['conflict', 'idempotency_conflict'] as const;
const changeErrors = ['conflict', 'managed_by_file', 'version_conflict'] as const;

export const providerRoutes = {
  listProviders: {
    ...providers,
    method: 'GET',
    path: '/api/relay/providers',
    summary: 'List providers',
    query: PageQuery,
    success: { status: 200, schema: Type.Array(Provider) },
  },
  createProvider: {
    ...providers,
    method: 'POST',
    path: '/api/relay/providers',
    summary: 'Create a provider',
    body: ProviderCreate,
    success: { status: 201, schema: Provider },
    errors: createErrors,
  },
  getProvider: {
    ...providers,
    method: 'GET',
    path: '/api/relay/providers/{provider_id}',
    summary: 'Read a provider',
    params: params('provider_id'),
    success: { status: 200, schema: Provider },
  },
  updateProvider: {
    ...providers,
    method: 'PUT',
    path: '/api/relay/providers/{provider_id}',
    summary: 'Change a provider',
    params: params('provider_id'),
    body: ProviderUpdate,
    success: { status: 200, schema: Provider },
    errors: changeErrors,
  },
  deleteProvider: {
    ...providers,
    method: 'DELETE',
    path: '/api/relay/providers/{provider_id}',
    summary: 'Delete a provider',
    params: params('provider_id'),
    success: noContent,
    errors: changeErrors,
  },
  testProvider: {
    ...providers,
    method: 'POST',
    path: '/api/relay/providers/{provider_id}/test',
    summary: 'List the provider’s models with its stored credential, and say where it stops',
    params: params('provider_id'),
    success: { status: 200, schema: ProviderTestResult },
    errors: ['queue_full'],
  },
  listCredentials: {
    ...credentials,
    method: 'GET',
    path: '/api/relay/credentials',
    summary: 'List credentials, without their secrets',
    query: PageQuery,
    success: { status: 200, schema: Type.Array(Credential) },
  },
  createCredential: {
    ...credentials,
    method: 'POST',
    path: '/api/relay/credentials',
    summary: 'Store a credential of a provider',
    body: CredentialCreate,
    success: { status: 201, schema: Credential },
    errors: createErrors,
  },
  updateCredential: {
    ...credentials,
    method: 'PUT',
    path: '/api/relay/credentials/{credential_id}',
    summary: 'Rename, enable, disable or replace a credential',
    params: params('credential_id'),
    body: CredentialUpdate,
    success: { status: 200, schema: Credential },
    errors: changeErrors,
  },
  deleteCredential: {
    ...credentials,
    method: 'DELETE',
    path: '/api/relay/credentials/{credential_id}',
    summary: 'Delete a credential',
    params: params('credential_id'),
    success: noContent,
    errors: changeErrors,
  },
  listPricingPolicies: {
    ...pricing,
    method: 'GET',
    path: '/api/relay/pricing-policies',
    summary: 'List prices',
    query: PageQuery,
    success: { status: 200, schema: Type.Array(PricingPolicy) },
  },
  createPricingPolicy: {
    ...pricing,
    method: 'POST',
    path: '/api/relay/pricing-policies',
    summary: 'Set the prices of an endpoint',
    body: PricingPolicyCreate,
    success: { status: 201, schema: PricingPolicy },
    errors: createErrors,
  },
  updatePricingPolicy: {
    ...pricing,
    method: 'PUT',
    path: '/api/relay/pricing-policies/{pricing_policy_id}',
    summary: 'Change the prices of an endpoint',
    params: params('pricing_policy_id'),
    body: PricingPolicyUpdate,
    success: { status: 200, schema: PricingPolicy },
    errors: changeErrors,
  },
  deletePricingPolicy: {
    ...pricing,
    method: 'DELETE',
    path: '/api/relay/pricing-policies/{pricing_policy_id}',
    summary: 'Delete the prices of an endpoint',
    params: params('pricing_policy_id'),
    success: noContent,
    errors: changeErrors,
  },
} as const satisfies RouteTable;
