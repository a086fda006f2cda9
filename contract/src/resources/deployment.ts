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
  action: Type.String({ description: 'For example, `provider.create`.' }),
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
    '`degraded`: a store is unavailable, and Relay serves only what does not need it; or the clock is more than 30 s off. `unavailable`: Relay can’t reach any store. `draining`: the process is stopping; after `RELAY_LAME_DUCK_MS`, it accepts no new requests.',
});

export const ProbeStatus = open('ProbeStatus', { status: serviceStatus });
export type ProbeStatus = Static<typeof ProbeStatus>;

export const HealthReport = open('HealthReport', {
  status: serviceStatus,
  version: Type.String(),
  role: Type.String(),
  stores: optional(
    oneOf(['embedded', 'servers'], {
      description:
        '`embedded`: the stores run inside the process. `servers`: PostgreSQL and Redis run separately.',
    }),
  ),
  checks: Type.Record(
    Type.String(),
    open('HealthCheck', {
      status: oneOf(['ok', 'unavailable'], {
        description: '`ok`: the store answers and accepts what Relay writes to it.',
      }),
      operation: optional(
        oneOf(['read', 'write'], {
          description:
            'What fails. `read`: the store cannot be reached or read. `write`: it answers and rejects writes.',
        }),
      ),
      reason: optional(Type.String({ description: 'Why, in the store’s own words.' })),
      detail: optional(Type.String({ description: 'What follows for requests.' })),
    }),
    { description: 'By store: `postgresql` and, unless the stores are embedded, `redis`.' },
  ),
  clock: optional(
    open('ClockHealth', {
      status: oneOf(['ok', 'unavailable'], {
        description: '`unavailable` when the clock is more than 30 s off; `/readyz` then returns 503.',
      }),
      detail: optional(Type.String({ description: 'Set when the clock is more than 2 s off.' })),
      ahead_ms: Type.Record(Type.String(), integer({ minimum: Number.MIN_SAFE_INTEGER }), {
        description: 'By store: how far the process’s clock is ahead of the store’s clock.',
      }),
    }),
  ),
  secrets: optional(
    open('SecretsHealth', {
      status: oneOf(['unavailable'], {
        description:
          'The process lacks a secret that the deployment uses, or can open none of its credentials; `/readyz` then returns 503.',
      }),
      detail: Type.String(),
    }),
  ),
  postgresql_settings: optional(
    open('PostgresqlSettings', {
      pooled: flag({
        description:
          'Whether `DATABASE_DIRECT_URL` is set, which means that `DATABASE_URL` points to a connection pooler.',
      }),
      unsafe: Type.Array(Type.String(), {
        description:
          'Durability settings that are off, such as `fsync`. A crash can then lose committed rows.',
      }),
      missing_timeouts: Type.Array(Type.String(), {
        description: 'Timeouts that are not set, such as `statement_timeout` behind a pooler.',
      }),
    }),
  ),
  redis_settings: optional(
    open('RedisSettings', {
      eviction: Type.String({
        description:
          'The `maxmemory-policy`. With any value except `noeviction`, Redis can lose usage and limit state.',
      }),
      persistence: oneOf(['append_only', 'snapshots', 'none', 'unknown']),
    }),
  ),
  ledger: optional(
    open('LedgerHealth', {
      workers: nullable(integer(), {
        description: 'Workers of the whole deployment that read usage. Null while that is not known.',
      }),
      waiting_entries: nullable(integer(), {
        description:
          'Usage entries of the whole deployment that are not in the ledger yet; an entry has one or more requests. Null while that is not known.',
      }),
      lag_ms: nullable(integer(), { description: 'Age of the oldest of them; 0 when there is none.' }),
      spooled_entries: integer({
        description: 'Usage on the disk of this process that Redis does not have yet.',
      }),
    }),
  ),
  metering: optional(
    open('MeteringHealth', {
      drift: nullable(
        integer({
          description: 'Limit windows whose count differs from the ledger and could not be corrected.',
        }),
      ),
      checked: integer(),
      unsettled: integer(),
      compared_at: nullable(Timestamp),
    }),
  ),
});
export type HealthReport = Static<typeof HealthReport>;
