import Type, { type Static } from 'typebox';
import {
  closed,
  flag,
  HeaderFieldName,
  Id,
  integer,
  Name,
  nullable,
  oneOf,
  optional,
  Slug,
  text,
  Url,
} from '../schema.ts';
import { Health, ManagedBy } from './values.ts';

const AuthMode = oneOf(['bearer_static', 'header_static', 'none'], {
  default: 'bearer_static',
  description: 'How the credential is sent upstream; `header_static` needs `auth_header_name`.',
});
const LatencyMsMax = integer({ minimum: 1, maximum: 3_600_000, default: 600_000 });

export const Provider = closed('Provider', {
  id: Id,
  name: Type.String(),
  slug: Slug,
  base_url: Url,
  auth_mode: AuthMode,
  auth_header_name: nullable(HeaderFieldName),
  max_latency_ms: LatencyMsMax,
  has_credential: flag({ description: 'Whether an enabled credential is stored.' }),
  health: Health,
  preset_slug: nullable(Type.String()),
  enabled: flag(),
  managed_by: optional(ManagedBy),
});
export type Provider = Static<typeof Provider>;

const extra = {
  auth_header_name: optional(nullable(HeaderFieldName)),
  max_latency_ms: optional(LatencyMsMax),
  preset_slug: optional(nullable(text({ maxLength: 100 }))),
};

export const ProviderCreate = closed('ProviderCreate', {
  name: Name,
  base_url: Url,
  auth_mode: optional(AuthMode),
  enabled: optional(flag({ default: true })),
  ...extra,
});
export type ProviderCreate = Static<typeof ProviderCreate>;

export const ProviderUpdate = closed('ProviderUpdate', {
  name: optional(Name),
  base_url: optional(Url),
  auth_mode: optional(AuthMode),
  enabled: optional(flag()),
  ...extra,
});
export type ProviderUpdate = Static<typeof ProviderUpdate>;
