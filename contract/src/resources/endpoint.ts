import Type, { type Static } from 'typebox';
import { closed, flag, Id, integer, Name, nullable, optional, Slug, Timestamp, text } from '../schema.ts';
import { Health, ManagedBy, RouteKind } from './values.ts';

const UpstreamModel = text({ minLength: 1, maxLength: 200, description: 'The model name sent upstream.' });
const Concurrency = nullable(integer({ minimum: 1 }), { default: null });
const ContextWindow = nullable(integer({ minimum: 1 }), { default: null });
const LatencyMsMax = integer({ minimum: 1, maximum: 3_600_000, default: 600_000 });
const Pacing = flag({ default: true, description: 'Whether short-window request limits spread dispatches.' });
const CredentialId = nullable(Id, { description: 'Null: the provider’s own enabled credential is used.' });

export const Endpoint = closed('Endpoint', {
  id: Id,
  provider_id: Id,
  credential_id: CredentialId,
  name: Type.String(),
  slug: Slug,
  upstream_model: UpstreamModel,
  route_kind: RouteKind,
  supports_streaming: flag(),
  pacing: Pacing,
  max_concurrency: Concurrency,
  context_window: ContextWindow,
  max_latency_ms: LatencyMsMax,
  enabled: flag(),
  health: Health,
  cooldown_until: nullable(Timestamp),
  managed_by: optional(ManagedBy),
});
export type Endpoint = Static<typeof Endpoint>;

const settings = {
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
});
export type EndpointCreate = Static<typeof EndpointCreate>;

export const EndpointUpdate = closed('EndpointUpdate', {
  name: optional(Name),
  upstream_model: optional(UpstreamModel),
  route_kind: optional(RouteKind),
  ...settings,
});
export type EndpointUpdate = Static<typeof EndpointUpdate>;
