import type { ColumnType } from 'kysely';

/**
 * The tables as the code sees them. Each column is described once, as a value: the row types for Kysely are
 * derived from it, and a test compares it with information_schema, so that neither can drift from the other.
 */
interface Column<Select, Insert, Update> {
  /** PostgreSQL's own name of the type (`udt_name` of information_schema). */
  readonly type: string;
  readonly nullable: boolean;
  readonly hasDefault: boolean;
  /** Computed by PostgreSQL; never written. */
  readonly generated: boolean;
  /** Exists only for the type checker. */
  readonly types?: ColumnType<Select, Insert, Update>;
}

function plain<Select, Insert = Select>(type: string): Column<Select, Insert, Insert> {
  return { type, nullable: false, hasDefault: false, generated: false };
}

function nullable<S, I, U>(column: Column<S, I, U>): Column<S | null, I | null | undefined, U | null> {
  return { type: column.type, nullable: true, hasDefault: column.hasDefault, generated: column.generated };
}

function defaulted<S, I, U>(column: Column<S, I, U>): Column<S, I | undefined, U> {
  return { type: column.type, nullable: column.nullable, hasDefault: true, generated: false };
}

function generated<S, I, U>(column: Column<S, I, U>): Column<S | null, never, never> {
  return { type: column.type, nullable: true, hasDefault: false, generated: true };
}

/** A text column whose CHECK constraint admits these values. */
function oneOf<Value extends string>(): Column<Value, Value, Value> {
  return plain<Value>('text');
}

const uuid = plain<string>('uuid');
const text = plain<string>('text');
const textArray = plain<string[]>('_text');
const boolean = plain<boolean>('bool');
const smallint = plain<number>('int2');
const integer = plain<number>('int4');
/** Within the safe integers: reading a larger value is an error, not a rounded number. */
const bigint = plain<number>('int8');
const bytes = plain<Buffer>('bytea');
const timestamp = plain<Date, Date | string>('timestamptz');
/** Written as JSON text, because the driver would turn a JavaScript array into a PostgreSQL array. */
const json = plain<unknown, string>('jsonb');

const dates = { created_at: defaulted(timestamp), updated_at: defaulted(timestamp) };
const revision = { version: defaulted(integer), ...dates };
const owned = { organization_id: uuid, id: uuid };

const role = oneOf<'owner' | 'admin' | 'developer' | 'viewer' | 'billing'>();
const metric = oneOf<'requests' | 'tokens' | 'spend' | 'concurrency'>();
const period = oneOf<'second' | 'minute' | 'hour' | 'day' | 'month' | 'none'>();
const limit = { metric, period, limit_value: bigint, enabled: defaulted(boolean), ...revision };
const budgetTarget = {
  target_type: oneOf<'global' | 'provider' | 'model' | 'lane'>(),
  target_id: nullable(uuid),
  target_provider_id: generated(uuid),
  target_endpoint_id: generated(uuid),
  target_lane_id: generated(uuid),
};

export const tables = {
  schema_migrations: { name: text, checksum: text, applied_at: defaulted(timestamp) },
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
    ...revision,
  },
  users: {
    id: uuid,
    name: text,
    email: text,
    status: defaulted(oneOf<'active' | 'invited' | 'suspended'>()),
    marketing_opt_in: defaulted(boolean),
    ...revision,
  },
  organization_members: { organization_id: uuid, user_id: uuid, role, ...revision },
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
    last_used_at: nullable(timestamp),
    ...revision,
  },
  providers: {
    ...owned,
    name: text,
    slug: text,
    base_url: text,
    auth_mode: oneOf<'bearer_static' | 'header_static' | 'none'>(),
    auth_header_name: nullable(text),
    max_latency_ms: nullable(integer),
    preset_slug: nullable(text),
    enabled: defaulted(boolean),
    ...revision,
  },
  credentials: {
    ...owned,
    provider_id: uuid,
    name: text,
    sealed_secret: bytes,
    key_id: text,
    secret_version: defaulted(integer),
    enabled: defaulted(boolean),
    last_used_at: nullable(timestamp),
    ...revision,
  },
  endpoints: {
    ...owned,
    provider_id: uuid,
    credential_id: nullable(uuid),
    name: text,
    slug: text,
    upstream_model: text,
    route_kind: oneOf<'chat' | 'responses' | 'embeddings' | 'multi'>(),
    supports_streaming: defaulted(boolean),
    pacing: defaulted(boolean),
    max_concurrency: nullable(integer),
    context_window: nullable(integer),
    max_latency_ms: defaulted(integer),
    enabled: defaulted(boolean),
    ...revision,
  },
  lanes: {
    ...owned,
    name: text,
    slug: text,
    description: defaulted(text),
    default_max_wait_ms: defaulted(integer),
    allow_fallback: defaulted(boolean),
    selection: defaulted(oneOf<'preferred' | 'soonest'>()),
    hidden: defaulted(boolean),
    enabled: defaulted(boolean),
    ...revision,
  },
  lane_memberships: {
    ...owned,
    lane_id: uuid,
    endpoint_id: uuid,
    manual_rank: integer,
    enabled: defaulted(boolean),
    ...revision,
  },
  guardrails: {
    ...owned,
    name: text,
    slug: text,
    preset_slug: text,
    base_url: text,
    http_method: defaulted(oneOf<'POST' | 'PUT'>()),
    auth_mode: defaulted(oneOf<'none' | 'bearer_static' | 'header_static'>()),
    secret_header_name: nullable(text),
    sealed_secret: nullable(bytes),
    key_id: nullable(text),
    secret_version: defaulted(integer),
    priority: defaulted(integer),
    timeout_ms: defaulted(integer),
    pre_dispatch_enabled: defaulted(boolean),
    post_response_enabled: defaulted(boolean),
    failure_mode: defaulted(oneOf<'fail_closed' | 'fail_open'>()),
    request_template: nullable(json),
    response_rules: nullable(json),
    max_request_bytes: nullable(integer),
    max_response_bytes: nullable(integer),
    enabled: defaulted(boolean),
    ...revision,
  },
  guardrail_bindings: {
    ...owned,
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
    ...owned,
    endpoint_id: uuid,
    currency: defaulted(oneOf<'USD'>()),
    input_cost_micros_per_1m_tokens: bigint,
    output_cost_micros_per_1m_tokens: bigint,
    cached_input_cost_micros_per_1m_tokens: nullable(bigint),
    flat_request_cost_micros: defaulted(bigint),
    source: oneOf<'catalog' | 'manual'>(),
    ...revision,
  },
  limit_policies: {
    ...owned,
    scope_type: oneOf<'global' | 'provider' | 'credential' | 'endpoint' | 'lane'>(),
    scope_id: nullable(uuid),
    scope_provider_id: generated(uuid),
    scope_credential_id: generated(uuid),
    scope_endpoint_id: generated(uuid),
    scope_lane_id: generated(uuid),
    ...limit,
  },
  user_limit_policies: { ...owned, user_id: uuid, ...budgetTarget, ...limit },
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
  requests: {
    request_id: uuid,
    organization_id: uuid,
    user_id: nullable(uuid),
    key_id: nullable(uuid),
    lane_id: nullable(uuid),
    endpoint_id: nullable(uuid),
    provider_id: nullable(uuid),
    upstream_model: nullable(text),
    client_request_id: nullable(text),
    operation: oneOf<'chat' | 'responses' | 'embeddings'>(),
    streaming: boolean,
    state: oneOf<'completed' | 'failed' | 'cancelled'>(),
    status: smallint,
    error_code: nullable(text),
    attempts: defaulted(json),
    fallback_count: defaulted(smallint),
    wait_ms: defaulted(integer),
    ttft_ms: nullable(integer),
    latency_ms: integer,
    estimated_input_tokens: defaulted(bigint),
    estimated_output_tokens: defaulted(bigint),
    estimated_cost_micros: defaulted(bigint),
    actual_input_tokens: nullable(bigint),
    actual_cached_input_tokens: nullable(bigint),
    actual_output_tokens: nullable(bigint),
    actual_cost_micros: nullable(bigint),
    usage_source: oneOf<'reported' | 'streamed' | 'estimated' | 'none'>(),
    bound_policy_id: nullable(uuid),
    settled_at: defaulted(timestamp),
  },
  request_rollups: {
    organization_id: uuid,
    bucket: oneOf<'minute' | 'hour' | 'day'>(),
    bucket_start: timestamp,
    provider_id: nullable(uuid),
    endpoint_id: nullable(uuid),
    lane_id: nullable(uuid),
    user_id: nullable(uuid),
    key_id: nullable(uuid),
    requests_completed: defaulted(bigint),
    requests_failed: defaulted(bigint),
    requests_cancelled: defaulted(bigint),
    fallbacks: defaulted(bigint),
    input_tokens: defaulted(bigint),
    cached_input_tokens: defaulted(bigint),
    output_tokens: defaulted(bigint),
    cost_micros: defaulted(bigint),
    requests_estimated: defaulted(bigint),
    wait_ms_sum: defaulted(bigint),
    wait_ms_max: defaulted(integer),
    latency_ms_sum: defaulted(bigint),
    ttft_ms_sum: defaulted(bigint),
    ttft_count: defaulted(bigint),
  },
};

type TypeOf<C> = C extends Column<infer S, infer I, infer U> ? ColumnType<S, I, U> : never;

/** The database as Kysely knows it. */
export type Database = {
  [Table in keyof typeof tables]: {
    [Name in keyof (typeof tables)[Table]]: TypeOf<(typeof tables)[Table][Name]>;
  };
};
