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
  text,
} from '../schema.ts';

export const Capabilities = closed('Capabilities', {
  mode: oneOf(['self_hosted', 'hosted']),
  accounts: flag({ description: 'Whether users, keys and budgets exist in this deployment.' }),
  version: Type.String(),
  features: Type.Record(Type.String(), Type.Boolean()),
  scopes: Type.Array(Type.String(), { description: 'The caller’s effective scopes.' }),
});
export type Capabilities = Static<typeof Capabilities>;

const ConfigItem = open(
  'ConfigItem',
  { name: optional(Type.String()) },
  { description: 'The fields of the create body; other resources are named by slug instead of id.' },
);
const ConfigItems = Type.Array(ConfigItem, { maxItems: 10_000 });

/** The declarative file. It never carries a secret. */
export const ConfigFile = closed('ConfigFile', {
  version: Type.Literal(1),
  providers: optional(ConfigItems),
  credentials: optional(ConfigItems),
  endpoints: optional(ConfigItems),
  lanes: optional(ConfigItems),
  memberships: optional(ConfigItems),
  pricing_policies: optional(ConfigItems),
  guardrails: optional(ConfigItems),
  limit_policies: optional(ConfigItems),
});
export type ConfigFile = Static<typeof ConfigFile>;

const Prune = flag({ default: false, description: 'Whether resources missing from the file are deleted.' });

export const ConfigPlanRequest = closed('ConfigPlanRequest', { config: ConfigFile, prune: optional(Prune) });
export type ConfigPlanRequest = Static<typeof ConfigPlanRequest>;

export const ConfigApplyRequest = closed('ConfigApplyRequest', {
  config: ConfigFile,
  prune: optional(Prune),
  plan_hash: optional(text({ maxLength: 200, description: 'Refuse when the plan is no longer this one.' })),
});
export type ConfigApplyRequest = Static<typeof ConfigApplyRequest>;

export const ConfigPlan = closed('ConfigPlan', {
  plan_hash: Type.String(),
  creates: integer(),
  updates: integer(),
  deletes: integer(),
  changes: Type.Array(
    closed('ConfigChange', {
      action: oneOf(['create', 'update', 'delete']),
      resource: Type.String(),
      key: Type.String(),
      id: nullable(Id),
      before: OpenJson,
      after: OpenJson,
    }),
  ),
});
export type ConfigPlan = Static<typeof ConfigPlan>;

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

/** The records belong to the billing system; Relay passes them on as they are. */
const BillingRecords = Type.Array(open('BillingRecord', {}));

export const BillingHistory = closed('BillingHistory', {
  invoices: BillingRecords,
  payments: BillingRecords,
  refunds: BillingRecords,
  disputes: BillingRecords,
  activities: BillingRecords,
});
export type BillingHistory = Static<typeof BillingHistory>;

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
