import type {
  Guardrail,
  Labels,
  LimitMetric,
  LimitPeriod,
  PricingPolicy,
  Provider,
  RouteKind,
  Team,
  WireProtocol,
} from '@relay/contract';
import type { ColumnType } from 'kysely';
import type { ResponseRule } from '../../domain/guardrails/rules.ts';
import type { Template } from '../../domain/guardrails/template.ts';
import type { Enforcement, UnpricedRule } from '../../domain/snapshot.ts';
import { alertTables } from './alert-tables.ts';
import { billingTables } from './billing-tables.ts';
import {
  bigint,
  boolean,
  bytes,
  type Column,
  defaulted,
  generated,
  integer,
  json,
  jsonOf,
  nullable,
  oneOf,
  smallint,
  smallintArray,
  text,
  textArray,
  timestamp,
  uuid,
} from './columns.ts';
import { ledgerTables } from './ledger-tables.ts';
import { secretTables } from './secret-tables.ts';

const dates = { created_at: defaulted(timestamp), updated_at: defaulted(timestamp) };
const revision = { version: defaulted(integer), ...dates };
const owned = { organization_id: uuid, id: uuid };
/** A row that the configuration file may manage. */
const configured = { ...owned, managed_by: nullable(oneOf<'file'>()) };

const role = oneOf<'owner' | 'admin' | 'developer' | 'viewer' | 'billing'>();
const metric = oneOf<LimitMetric>();
const period = oneOf<LimitPeriod>();
const limit = {
  metric,
  period,
  limit_value: bigint,
  unpriced: defaulted(oneOf<UnpricedRule>()),
  enforcement: defaulted(oneOf<Enforcement>()),
  enabled: defaulted(boolean),
  counter: defaulted(integer),
  counted_from: defaulted(timestamp),
  ...revision,
  alert_at: defaulted(smallintArray),
  alert_on_forecast: defaulted(boolean),
};
const budgetTarget = {
  target_type: oneOf<'global' | 'provider' | 'model' | 'lane'>(),
  target_id: nullable(uuid),
  target_provider_id: generated(uuid),
  target_endpoint_id: generated(uuid),
  target_lane_id: generated(uuid),
};

/**
 * The tables as the code sees them. Each column is described once, as a value: the row types for Kysely derive from it, and
 * a test compares it with information_schema.
 */
export const tables = {
  schema_migrations: { name: text, checksum: text, applied_at: defaulted(timestamp) },
  shard_epochs: { shard: integer, epoch: bigint, raised_at: defaulted(timestamp) },
  deployment: { singleton: defaulted(boolean), id: uuid, created_at: defaulted(timestamp) },
  config_clock: { singleton: defaulted(boolean), version: bigint },
  organization_tombstones: {
    organization_id: uuid,
    config_version: bigint,
    created_at: defaulted(timestamp),
  },
  organizations: {
    id: uuid,
    name: text,
    slug: text,
    plan: text,
    config_version: defaulted(bigint),
    stripe_customer_id: nullable(text),
    ...revision,
  },
  users: {
    id: uuid,
    name: text,
    email: text,
    status: defaulted(oneOf<'active' | 'invited' | 'suspended'>()),
    marketing_opt_in: defaulted(boolean),
    email_verified: defaulted(boolean),
    two_factor_enabled: defaulted(boolean),
    ...revision,
  },
  organization_members: {
    organization_id: uuid,
    user_id: uuid,
    role,
    status: defaulted(oneOf<'active' | 'suspended'>()),
    /** The team of what they send without a key, and of their keys without one. */
    team_id: nullable(uuid),
    ...revision,
  },
  /** The names of removed members, for the organization's history. */
  former_members: {
    organization_id: uuid,
    user_id: uuid,
    name: text,
    removed_at: defaulted(timestamp),
  },
  /** The names of deleted resources, for the organization's history. */
  former_resources: {
    organization_id: uuid,
    id: uuid,
    name: text,
    upstream_model: nullable(text),
    removed_at: defaulted(timestamp),
  },
  invitations: {
    ...owned,
    email: text,
    role,
    token_hash: bytes,
    invited_by_user_id: nullable(uuid),
    expires_at: timestamp,
    accepted_at: nullable(timestamp),
    revoked_at: nullable(timestamp),
    ...revision,
  },
  sessions: {
    id: uuid,
    user_id: uuid,
    organization_id: uuid,
    token: text,
    admin_token_digest: nullable(text),
    ip_address: nullable(text),
    user_agent: nullable(text),
    expires_at: timestamp,
    ...dates,
  },
  auth_accounts: {
    id: uuid,
    user_id: uuid,
    provider_id: text,
    account_id: text,
    password: nullable(text),
    ...dates,
  },
  auth_two_factors: {
    id: uuid,
    user_id: uuid,
    secret: text,
    backup_codes: text,
    verified: defaulted(boolean),
    failed_verification_count: defaulted(integer),
    last_used_step: nullable(bigint),
  },
  password_resets: {
    token_hash: bytes,
    user_id: uuid,
    created_at: defaulted(timestamp),
    expires_at: timestamp,
  },
  sign_in_origins: { user_id: uuid, address: text, browser: text, last_used_at: defaulted(timestamp) },
  api_keys: {
    ...owned,
    user_id: uuid,
    name: text,
    public_id: text,
    secret_hmac: bytes,
    product_key: defaulted(oneOf<'model_relay'>()),
    scopes: textArray,
    expires_at: nullable(timestamp),
    revoked_at: nullable(timestamp),
    first_used_at: nullable(timestamp),
    last_used_at: nullable(timestamp),
    changed_version: defaulted(bigint),
    team_id: nullable(uuid),
    labels: defaulted(jsonOf<Labels>()),
    ...revision,
  },
  teams: {
    ...owned,
    name: text,
    slug: text,
    kind: defaulted(oneOf<Team['kind']>()),
    parent_id: nullable(uuid),
    ...revision,
  },
  providers: {
    ...configured,
    name: text,
    slug: text,
    base_url: text,
    auth_mode: oneOf<Provider['auth_mode']>(),
    auth_header_name: nullable(text),
    aws_region: nullable(text),
    aws_service: nullable(text),
    max_latency_ms: nullable(integer),
    preset_slug: nullable(text),
    extra_headers: nullable(jsonOf<Readonly<Record<string, string>>>()),
    extra_query: nullable(jsonOf<Readonly<Record<string, string>>>()),
    health_probe: defaulted(oneOf<Provider['health_probe']>()),
    enabled: defaulted(boolean),
    ...revision,
  },
  credentials: {
    ...configured,
    provider_id: uuid,
    name: text,
    sealed_secret: bytes,
    key_id: text,
    secret_version: defaulted(integer),
    secret_ref: nullable(text),
    enabled: defaulted(boolean),
    last_used_at: nullable(timestamp),
    ...revision,
  },
  endpoints: {
    ...configured,
    provider_id: uuid,
    credential_id: nullable(uuid),
    name: text,
    slug: text,
    upstream_model: text,
    route_kind: oneOf<RouteKind>(),
    supports_streaming: defaulted(boolean),
    pacing: defaulted(boolean),
    max_concurrency: nullable(integer),
    context_window: nullable(integer),
    max_latency_ms: defaulted(integer),
    enabled: defaulted(boolean),
    ...revision,
    protocol: defaulted(oneOf<WireProtocol>()),
  },
  lanes: {
    ...configured,
    name: text,
    slug: text,
    description: defaulted(text),
    default_max_wait_ms: defaulted(integer),
    allow_fallback: defaulted(boolean),
    hold_ms: defaulted(integer),
    selection: defaulted(oneOf<'preferred' | 'soonest'>()),
    priority: defaulted(oneOf<'interactive' | 'standard' | 'batch'>()),
    hidden: defaulted(boolean),
    shadows_model: defaulted(boolean),
    enabled: defaulted(boolean),
    ...revision,
  },
  lane_memberships: {
    ...configured,
    lane_id: uuid,
    endpoint_id: uuid,
    manual_rank: integer,
    enabled: defaulted(boolean),
    ...revision,
  },
  guardrails: {
    ...configured,
    name: text,
    slug: text,
    preset_slug: text,
    base_url: text,
    http_method: defaulted(oneOf<'POST' | 'PUT'>()),
    auth_mode: defaulted(oneOf<Guardrail['auth_mode']>()),
    secret_header_name: nullable(text),
    sealed_secret: nullable(bytes),
    key_id: nullable(text),
    secret_version: defaulted(integer),
    secret_ref: nullable(text),
    priority: defaulted(integer),
    timeout_ms: defaulted(integer),
    pre_dispatch_enabled: defaulted(boolean),
    post_response_enabled: defaulted(boolean),
    failure_mode: defaulted(oneOf<'fail_closed' | 'fail_open'>()),
    request_template: nullable(jsonOf<Template>()),
    response_rules: nullable(jsonOf<readonly ResponseRule[]>()),
    max_request_bytes: nullable(integer),
    max_response_bytes: nullable(integer),
    enabled: defaulted(boolean),
    ...revision,
  },
  guardrail_bindings: {
    ...configured,
    guardrail_id: uuid,
    target_type: oneOf<'global' | 'lane' | 'provider' | 'endpoint'>(),
    target_id: nullable(uuid),
    target_lane_id: generated(uuid),
    target_provider_id: generated(uuid),
    target_endpoint_id: generated(uuid),
    enabled: defaulted(boolean),
    ...revision,
  },
  pricing_policies: {
    ...configured,
    endpoint_id: uuid,
    currency: defaulted(oneOf<'USD'>()),
    input_cost_micros_per_1m_tokens: bigint,
    output_cost_micros_per_1m_tokens: bigint,
    cached_input_cost_micros_per_1m_tokens: nullable(bigint),
    flat_request_cost_micros: defaulted(bigint),
    source: oneOf<PricingPolicy['source']>(),
    ...revision,
    cache_write_5m_cost_micros_per_1m_tokens: nullable(bigint),
    cache_write_1h_cost_micros_per_1m_tokens: nullable(bigint),
    audio_input_cost_micros_per_1m_tokens: nullable(bigint),
    image_input_cost_micros_per_1m_tokens: nullable(bigint),
    reasoning_cost_micros_per_1m_tokens: nullable(bigint),
    audio_output_cost_micros_per_1m_tokens: nullable(bigint),
    image_output_cost_micros_per_1m_tokens: nullable(bigint),
    variants: defaulted(jsonOf<PricingPolicy['variants']>()),
    scheduled: defaulted(jsonOf<PricingPolicy['scheduled']>()),
    as_of: nullable(timestamp),
  },
  limit_policies: {
    ...configured,
    scope_type: oneOf<'global' | 'provider' | 'credential' | 'endpoint' | 'lane'>(),
    scope_id: nullable(uuid),
    scope_provider_id: generated(uuid),
    scope_credential_id: generated(uuid),
    scope_endpoint_id: generated(uuid),
    scope_lane_id: generated(uuid),
    ...limit,
  },
  user_limit_policies: { ...owned, user_id: uuid, ...budgetTarget, ...limit },
  team_limit_policies: { ...owned, team_id: uuid, ...budgetTarget, ...limit },
  api_key_limit_policies: { ...owned, api_key_id: uuid, ...budgetTarget, ...limit },
  audit_log: {
    ...owned,
    actor_type: oneOf<'user' | 'api_key' | 'admin_token' | 'system'>(),
    actor_user_id: nullable(uuid),
    actor_key_id: nullable(uuid),
    action: text,
    target_type: text,
    target_id: nullable(text),
    before: nullable(json),
    after: nullable(json),
    request_id: nullable(uuid),
    created_at: defaulted(timestamp),
  },
  idempotency_keys: {
    organization_id: uuid,
    caller_id: text,
    key: text,
    method: text,
    path: text,
    request_hash: bytes,
    response_status: nullable(smallint),
    sealed_response: nullable(bytes),
    created_at: defaulted(timestamp),
    expires_at: timestamp,
  },
  ...secretTables,
  ...ledgerTables,
  ...billingTables,
  ...alertTables,
};

type TypeOf<C> = C extends Column<infer S, infer I, infer U> ? ColumnType<S, I, U> : never;

/** The names of a table's columns. */
export function columnsOf<Table extends keyof typeof tables>(
  table: Table,
): (keyof (typeof tables)[Table] & string)[] {
  return Object.keys(tables[table]) as (keyof (typeof tables)[Table] & string)[];
}

/** The columns of a table by their names. */
export type Columns = Readonly<Record<string, Column<unknown, unknown, unknown>>>;

/** A table as Kysely knows it. */
export type TableOf<C extends Columns> = { [Name in keyof C]: TypeOf<C[Name]> };

/** The database as Kysely knows it. */
export type Database = { [Table in keyof typeof tables]: TableOf<(typeof tables)[Table]> };
