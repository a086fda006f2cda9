import Type, { type Static } from 'typebox';
import {
  closed,
  flag,
  Id,
  integer,
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
  accounts: flag({
    description:
      'Whether the deployment has accounts: members, roles and sign-in. API keys and limits exist without them.',
  }),
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

const serviceStatus = oneOf(['ok', 'degraded', 'draining', 'unavailable'], {
  description:
    '`degraded`: a store is down, and what does not need it is served. `unavailable`: no store can be reached. `draining`: the process takes no new requests.',
});

export const ProbeStatus = open('ProbeStatus', { status: serviceStatus });
export type ProbeStatus = Static<typeof ProbeStatus>;

export const HealthReport = open('HealthReport', {
  status: serviceStatus,
  version: Type.String(),
  role: Type.String(),
  stores: optional(
    oneOf(['embedded', 'servers'], { description: 'Whether the stores are part of the process.' }),
  ),
  checks: Type.Record(
    Type.String(),
    open('HealthCheck', { status: oneOf(['ok', 'unavailable']), detail: optional(Type.String()) }),
    { description: 'By part: `postgresql` and, unless it is embedded, `redis`.' },
  ),
  clock: optional(
    open('ClockHealth', {
      status: oneOf(['ok', 'unavailable'], {
        description: '`unavailable` when the clock is more than 30 s off; `/readyz` is 503 then.',
      }),
      detail: optional(Type.String({ description: 'Set when the clock is more than 2 s off.' })),
      ahead_ms: Type.Record(Type.String(), integer({ minimum: Number.MIN_SAFE_INTEGER }), {
        description: 'By store: how far the clock of the process is ahead of that of the store.',
      }),
    }),
  ),
  postgresql_settings: optional(
    open('PostgresqlSettings', {
      pooled: flag({
        description: 'Whether `DATABASE_DIRECT_URL` is set, so that `DATABASE_URL` leads to a pooler.',
      }),
      unsafe: Type.Array(Type.String(), {
        description: 'Settings that are off, so that a crash loses committed rows, such as `fsync`.',
      }),
      missing_timeouts: Type.Array(Type.String(), {
        description: 'Timeouts that sessions do not have, such as `statement_timeout` behind a pooler.',
      }),
    }),
  ),
  redis_settings: optional(
    open('RedisSettings', {
      eviction: Type.String({
        description: 'Its `maxmemory-policy`; everything but `noeviction` loses usage and limits.',
      }),
      persistence: oneOf(['append_only', 'snapshots', 'none', 'unknown']),
    }),
  ),
  metering: optional(
    open('MeteringHealth', {
      drift: nullable(integer({ description: 'Windows of limits that differ from the ledger.' })),
      checked: integer(),
      unsettled: integer(),
      compared_at: nullable(Timestamp),
    }),
  ),
});
export type HealthReport = Static<typeof HealthReport>;
