import Type, { type Static } from 'typebox';
import { ItemSlug, slugOf, without } from '../config-item.ts';
import type { ResourceDefinition } from '../resource-definition.ts';
import { changeErrors, createErrors, noContent } from '../route-definition.ts';
import {
  changeOf,
  closed,
  flag,
  Id,
  integer,
  Name,
  nullable,
  optional,
  PageQuery,
  params,
  Slug,
  Timestamp,
  text,
} from '../schema.ts';
import { EndpointTestResult } from './connection-test.ts';
import {
  Health,
  HealthDetail,
  ManagedBy,
  RouteKind,
  TakesOver,
  TakesOverQuery,
  WireProtocol,
} from './values.ts';

const UpstreamModel = text({ minLength: 1, maxLength: 200, description: 'The model name sent upstream.' });
const Concurrency = nullable(integer({ minimum: 1 }), { default: null });
const ContextWindow = nullable(integer({ minimum: 1 }), { default: null });
const LatencyMsMax = integer({ minimum: 1, maximum: 3_600_000, default: 600_000 });
const Pacing = flag({
  default: true,
  description: 'Space requests evenly under per-second and per-minute limits.',
});
const CredentialId = nullable(Id, { description: 'If null, Relay uses the provider’s enabled credential.' });

export const Endpoint = closed('Endpoint', {
  id: Id,
  provider_id: Id,
  credential_id: CredentialId,
  name: Type.String(),
  slug: Slug,
  upstream_model: UpstreamModel,
  route_kind: RouteKind,
  protocol: WireProtocol,
  supports_streaming: flag(),
  pacing: Pacing,
  max_concurrency: Concurrency,
  context_window: ContextWindow,
  max_latency_ms: LatencyMsMax,
  enabled: flag(),
  health: Health,
  health_detail: HealthDetail,
  cooldown_until: nullable(Timestamp),
  managed_by: optional(ManagedBy),
});
export type Endpoint = Static<typeof Endpoint>;

const settings = {
  protocol: optional(WireProtocol),
  credential_id: optional(CredentialId),
  supports_streaming: optional(flag({ default: true })),
  pacing: optional(Pacing),
  max_concurrency: optional(Concurrency),
  context_window: optional(ContextWindow),
  max_latency_ms: optional(LatencyMsMax),
  enabled: optional(flag({ default: true })),
};

export const EndpointCreate = closed('EndpointCreate', {
  provider_id: Id,
  name: Name,
  upstream_model: UpstreamModel,
  route_kind: RouteKind,
  ...settings,
  takes_over: TakesOver,
});
export type EndpointCreate = Static<typeof EndpointCreate>;

export const EndpointUpdate = changeOf('EndpointUpdate', Endpoint, {
  name: optional(Name),
  upstream_model: optional(UpstreamModel),
  route_kind: optional(RouteKind),
  ...settings,
  takes_over: TakesOver,
});
export type EndpointUpdate = Static<typeof EndpointUpdate>;

export const ConfigEndpoint = closed('ConfigEndpoint', {
  slug: optional(ItemSlug),
  provider: slugOf('the provider that serves it'),
  credential: optional(
    nullable(Name, {
      default: null,
      description:
        'The name of one of the provider’s credentials. If null, Relay uses the provider’s enabled credential.',
    }),
  ),
  ...without(EndpointCreate.properties, 'provider_id', 'credential_id', 'takes_over'),
});
export type ConfigEndpoint = Static<typeof ConfigEndpoint>;

const shared = { plane: 'management', tag: 'Endpoints' } as const;
const read = { scope: 'relay:routing:read' } as const;
const manage = { scope: 'relay:routing:manage' } as const;

export const endpointResource = {
  order: 30,
  routes: {
    listEndpoints: {
      ...shared,
      method: 'GET',
      path: '/api/relay/endpoints',
      access: read,
      summary: 'List model endpoints',
      query: PageQuery,
      success: { status: 200, schema: Type.Array(Endpoint) },
    },
    createEndpoint: {
      ...shared,
      method: 'POST',
      path: '/api/relay/endpoints',
      access: manage,
      summary: 'Create a model endpoint',
      body: EndpointCreate,
      success: { status: 201, schema: Endpoint },
      errors: [...createErrors, 'name_taken'],
    },
    getEndpoint: {
      ...shared,
      method: 'GET',
      path: '/api/relay/endpoints/{endpoint_id}',
      access: read,
      summary: 'Read a model endpoint',
      params: params('endpoint_id'),
      success: { status: 200, schema: Endpoint },
    },
    updateEndpoint: {
      ...shared,
      method: 'PUT',
      path: '/api/relay/endpoints/{endpoint_id}',
      access: manage,
      summary: 'Change a model endpoint',
      params: params('endpoint_id'),
      body: EndpointUpdate,
      success: { status: 200, schema: Endpoint },
      errors: [...changeErrors, 'name_taken'],
    },
    deleteEndpoint: {
      ...shared,
      method: 'DELETE',
      path: '/api/relay/endpoints/{endpoint_id}',
      access: manage,
      summary: 'Delete a model endpoint that no lane uses',
      params: params('endpoint_id'),
      query: TakesOverQuery,
      success: noContent,
      errors: [...changeErrors, 'name_taken'],
    },
    testEndpoint: {
      ...shared,
      method: 'POST',
      path: '/api/relay/endpoints/{endpoint_id}/test',
      access: manage,
      summary: 'Test an endpoint with one minimal request, which the provider may bill',
      params: params('endpoint_id'),
      success: { status: 200, schema: EndpointTestResult },
      errors: ['queue_full'],
    },
  },
  section: {
    name: 'endpoints',
    noun: 'endpoint',
    item: ConfigEndpoint,
    scopes: { read: read.scope, manage: manage.scope },
  },
  command: {
    singular: 'endpoint',
    plural: 'endpoints',
    summary: 'Manage endpoints',
    description: 'Manage endpoints: each is one model at one provider',
  },
} as const satisfies ResourceDefinition;
