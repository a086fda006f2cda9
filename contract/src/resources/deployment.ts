import Type, { type Static } from 'typebox';
import {
  closed,
  flag,
  Id,
  nullable,
  OpenJson,
  oneOf,
  open,
  optional,
  page,
  pageFields,
  query,
  Timestamp,
} from '../schema.ts';

export const Capabilities = closed('Capabilities', {
  mode: oneOf(['self_hosted', 'hosted']),
  accounts: flag({ description: 'Whether users, keys and budgets exist in this deployment.' }),
  version: Type.String(),
  features: Type.Record(Type.String(), Type.Boolean()),
  scopes: Type.Array(Type.String(), { description: 'The caller’s effective scopes.' }),
});
export type Capabilities = Static<typeof Capabilities>;

export const AuditEntry = closed('AuditEntry', {
  id: Id,
  at: Timestamp,
  actor: closed('AuditActor', {
    type: oneOf(['user', 'api_key', 'admin_token', 'config_file', 'system']),
    id: nullable(Id),
    name: nullable(Type.String()),
  }),
  action: Type.String({ description: 'Such as `provider.create`.' }),
  target_type: Type.String(),
  target_id: nullable(Id),
  before: OpenJson,
  after: OpenJson,
  request_id: nullable(Id),
});
export type AuditEntry = Static<typeof AuditEntry>;

export const AuditPage = page('AuditPage', AuditEntry);

export const AuditQuery = query({
  from: optional(Timestamp),
  to: optional(Timestamp),
  actor_id: optional(Id),
  action: optional(Type.String({ maxLength: 100 })),
  target_type: optional(Type.String({ maxLength: 100 })),
  target_id: optional(Id),
  ...pageFields,
});
export type AuditQuery = Static<typeof AuditQuery>;

export const ProbeStatus = open('ProbeStatus', {
  status: oneOf(['ok', 'degraded', 'draining', 'unavailable']),
});
export type ProbeStatus = Static<typeof ProbeStatus>;

export const HealthReport = open('HealthReport', {
  status: oneOf(['ok', 'degraded', 'draining', 'unavailable']),
  version: Type.String(),
  role: Type.String(),
  checks: Type.Record(
    Type.String(),
    open('HealthCheck', { status: oneOf(['ok', 'unavailable']), detail: optional(Type.String()) }),
  ),
});
export type HealthReport = Static<typeof HealthReport>;
