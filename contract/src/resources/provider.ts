import Type, { type Static } from 'typebox';
import { ItemSlug } from '../config-item.ts';
import type { ResourceDefinition } from '../resource-definition.ts';
import { changeErrors, createErrors, noContent } from '../route-definition.ts';
import {
  changeOf,
  closed,
  flag,
  HeaderFieldName,
  Id,
  integer,
  Name,
  nullable,
  oneOf,
  optional,
  PageQuery,
  params,
  Slug,
  text,
  Url,
} from '../schema.ts';
import { ProviderTestResult } from './connection-test.ts';
import { Health, HealthDetail, ManagedBy, RouteKind, WireProtocol } from './values.ts';

const AuthMode = oneOf(
  ['bearer_static', 'header_static', 'aws_sigv4', 'google_service_account', 'client_certificate', 'none'],
  {
    default: 'bearer_static',
    description:
      'How requests are authenticated upstream. `bearer_static` and `header_static` send the credential; the latter needs `auth_header_name`. `aws_sigv4` signs each request with it, and `google_service_account` exchanges it for short-lived tokens. `client_certificate` presents it when a TLS connection is made.',
  },
);
const AwsRegion = text({
  maxLength: 50,
  pattern: '^[a-z0-9-]+$',
  description:
    'The region for AWS signatures, such as `us-east-1`. Default: the region in the host name of `base_url`.',
});
const AwsService = text({
  maxLength: 50,
  pattern: '^[a-z0-9-]+$',
  description:
    'The service for AWS signatures. Default: the service in the host name of `base_url`, or `bedrock`.',
});
const HealthProbe = oneOf(['off', 'models', 'request'], {
  default: 'off',
  description:
    'Health check every 30 s, independent of client requests. `models`: `GET {base_url}/models`. `request`: a request for 1 token to the oldest enabled endpoint; the provider bills it, but it does not appear in the request log or usage and counts toward no limit.',
});
/** Neither is secret: both are shown to everyone who may read providers. */
const ExtraHeaders = Type.Record(Type.String(), text({ maxLength: 1000 }), {
  maxProperties: 20,
  description:
    'Headers that Relay adds to every request to the provider, by name. For secrets, store a credential instead.',
});
const ExtraQuery = Type.Record(Type.String(), text({ maxLength: 1000 }), {
  maxProperties: 20,
  description:
    'Query parameters that Relay adds to every request to the provider, such as `api-version`. Those in `base_url` are moved here.',
});
const LatencyMsMax = integer({ minimum: 1, maximum: 3_600_000, default: 600_000 });

export const Provider = closed('Provider', {
  id: Id,
  name: Type.String(),
  slug: Slug,
  base_url: Url,
  auth_mode: AuthMode,
  auth_header_name: nullable(HeaderFieldName),
  aws_region: nullable(AwsRegion),
  aws_service: nullable(AwsService),
  max_latency_ms: LatencyMsMax,
  has_credential: flag({ description: 'Whether an enabled credential is stored.' }),
  health: Health,
  health_detail: HealthDetail,
  preset_slug: nullable(Type.String()),
  extra_headers: nullable(ExtraHeaders),
  extra_query: nullable(ExtraQuery),
  health_probe: HealthProbe,
  enabled: flag(),
  managed_by: optional(ManagedBy),
});
export type Provider = Static<typeof Provider>;

const extra = {
  auth_header_name: optional(nullable(HeaderFieldName)),
  aws_region: optional(nullable(AwsRegion)),
  aws_service: optional(nullable(AwsService)),
  max_latency_ms: optional(LatencyMsMax),
  preset_slug: optional(
    nullable(text({ maxLength: 100 }), {
      description:
        'A preset from `GET /api/relay/provider-presets`. When you create a provider, the preset fills in what you omit: base URL, authentication, extra headers and query. Its quirks apply as long as the provider uses it.',
    }),
  ),
  extra_headers: optional(nullable(ExtraHeaders)),
  extra_query: optional(nullable(ExtraQuery)),
  health_probe: optional(HealthProbe),
};

export const ProviderCreate = closed('ProviderCreate', {
  name: Name,
  base_url: optional(
    Type.String({ ...Url, description: 'An http or https URL. Optional if the preset has one.' }),
  ),
  auth_mode: optional(AuthMode),
  enabled: optional(flag({ default: true })),
  ...extra,
});
export type ProviderCreate = Static<typeof ProviderCreate>;

export const ProviderUpdate = changeOf('ProviderUpdate', Provider, {
  name: optional(Name),
  base_url: optional(Url),
  auth_mode: optional(AuthMode),
  enabled: optional(flag()),
  ...extra,
});
export type ProviderUpdate = Static<typeof ProviderUpdate>;

export const ConfigProvider = closed('ConfigProvider', {
  slug: optional(ItemSlug),
  ...ProviderCreate.properties,
});
export type ConfigProvider = Static<typeof ConfigProvider>;

const Quirks = closed('ProviderQuirks', {
  path_prefix: Type.String({
    description: 'Prepended to the path of every operation; `{model}` stands for the upstream model.',
  }),
  dropped_parameters: Type.Array(Type.String(), {
    description: 'Parameters that the provider rejects. Relay removes them from requests.',
  }),
  accepted_parameters: Type.Array(Type.String(), {
    description:
      'Parameters of OpenAI that many compatible providers reject, and this one accepts. Translated requests have them only here; requests that pass through keep them everywhere.',
  }),
  renamed_parameters: Type.Record(Type.String(), Type.String(), {
    description: 'Parameters that have another name at the provider; Relay sends that name instead.',
  }),
});

export const ProviderPreset = closed('ProviderPreset', {
  slug: Type.String(),
  name: Type.String(),
  base_url: Type.String({ description: 'Replace the parts in braces, such as `{resource}`.' }),
  protocol: WireProtocol,
  route_kind: RouteKind,
  auth_mode: AuthMode,
  auth_header_name: nullable(HeaderFieldName),
  extra_headers: nullable(ExtraHeaders),
  extra_query: nullable(ExtraQuery),
  model_list: nullable(Type.String(), {
    description:
      'Where the provider lists its models, relative to `base_url`, or to the host if it starts with `/`. Null if there is no list.',
  }),
  quirks: Quirks,
  documentation: Type.String({ description: 'The provider’s documentation that the preset follows.' }),
});
export type ProviderPreset = Static<typeof ProviderPreset>;

const shared = { plane: 'management', tag: 'Providers' } as const;
const read = { scope: 'relay:providers:read' } as const;
const manage = { scope: 'relay:providers:manage' } as const;

export const providerResource = {
  order: 10,
  scopes: {
    'relay:providers:read': 'Read providers, credentials (never their secrets) and prices.',
    'relay:providers:manage': 'Create, change, test and delete providers, credentials and prices.',
  },
  routes: {
    listProviders: {
      ...shared,
      method: 'GET',
      path: '/api/relay/providers',
      access: read,
      summary: 'List providers',
      query: PageQuery,
      success: { status: 200, schema: Type.Array(Provider) },
    },
    createProvider: {
      ...shared,
      method: 'POST',
      path: '/api/relay/providers',
      access: manage,
      summary: 'Create a provider',
      body: ProviderCreate,
      success: { status: 201, schema: Provider },
      errors: createErrors,
    },
    getProvider: {
      ...shared,
      method: 'GET',
      path: '/api/relay/providers/{provider_id}',
      access: read,
      summary: 'Read a provider',
      params: params('provider_id'),
      success: { status: 200, schema: Provider },
    },
    updateProvider: {
      ...shared,
      method: 'PUT',
      path: '/api/relay/providers/{provider_id}',
      access: manage,
      summary: 'Change a provider',
      params: params('provider_id'),
      body: ProviderUpdate,
      success: { status: 200, schema: Provider },
      errors: changeErrors,
    },
    deleteProvider: {
      ...shared,
      method: 'DELETE',
      path: '/api/relay/providers/{provider_id}',
      access: manage,
      summary: 'Delete a provider',
      params: params('provider_id'),
      success: noContent,
      errors: changeErrors,
    },
    testProvider: {
      ...shared,
      method: 'POST',
      path: '/api/relay/providers/{provider_id}/test',
      access: manage,
      summary: 'Test the connection: list the provider’s models with its stored credential',
      params: params('provider_id'),
      success: { status: 200, schema: ProviderTestResult },
      errors: ['queue_full'],
    },
    listProviderPresets: {
      ...shared,
      method: 'GET',
      path: '/api/relay/provider-presets',
      access: read,
      summary: 'List provider presets',
      query: PageQuery,
      success: { status: 200, schema: Type.Array(ProviderPreset) },
    },
  },
  section: {
    name: 'providers',
    noun: 'provider',
    item: ConfigProvider,
    scopes: { read: read.scope, manage: manage.scope },
  },
  command: {
    singular: 'provider',
    plural: 'providers',
    summary: 'Manage providers',
    description: 'Manage providers and their credentials',
  },
} as const satisfies ResourceDefinition;
