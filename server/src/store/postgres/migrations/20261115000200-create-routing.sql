-- Where requests can go: providers, their credentials, model endpoints, lanes, guardrails, prices.

create table providers (
  organization_id uuid not null references organizations (id) on delete cascade,
  id uuid not null,
  name text not null check (length(name) between 1 and 200),
  slug text not null check (length(slug) between 1 and 100 and slug !~ '[/[:space:]]'),
  base_url text not null check (base_url ~ '^https?://' and length(base_url) <= 2048),
  auth_mode text not null check (auth_mode in ('bearer_static', 'header_static', 'none')),
  auth_header_name text check (length(auth_header_name) between 1 and 200),
  max_latency_ms integer check (max_latency_ms > 0),
  preset_slug text check (length(preset_slug) between 1 and 100),
  enabled boolean not null default true,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (organization_id, id),
  unique (organization_id, slug),
  check (auth_mode <> 'header_static' or auth_header_name is not null)
);
create trigger touch_providers before update on providers for each row execute function touch_row();

create table credentials (
  organization_id uuid not null references organizations (id) on delete cascade,
  id uuid not null,
  provider_id uuid not null,
  name text not null check (length(name) between 1 and 200),
  -- Sealed under the master key named by key_id, bound to organization, provider and secret_version.
  sealed_secret bytea not null check (octet_length(sealed_secret) between 37 and 16384),
  key_id text not null check (key_id ~ '^[0-9a-f]{16}$'),
  secret_version integer not null default 1 check (secret_version > 0),
  enabled boolean not null default true,
  last_used_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (organization_id, id),
  -- Lets an endpoint's reference demand that the credential is of the endpoint's own provider.
  unique (organization_id, provider_id, id),
  foreign key (organization_id, provider_id) references providers (organization_id, id) on delete cascade
);
-- Rotation of the master key walks what is not yet under the new key as two ranges of this index.
create index credentials_by_key on credentials (key_id, organization_id, id);
create trigger touch_credentials before update of name, enabled, secret_version on credentials
  for each row execute function touch_row();

create table endpoints (
  organization_id uuid not null references organizations (id) on delete cascade,
  id uuid not null,
  provider_id uuid not null,
  credential_id uuid,
  name text not null check (length(name) between 1 and 200),
  slug text not null check (length(slug) between 1 and 100 and slug !~ '[/[:space:]]'),
  upstream_model text not null check (length(upstream_model) between 1 and 300),
  route_kind text not null check (route_kind in ('chat', 'responses', 'embeddings', 'multi')),
  supports_streaming boolean not null default true,
  pacing boolean not null default true,
  max_concurrency integer check (max_concurrency > 0),
  context_window integer check (context_window > 0),
  max_latency_ms integer not null default 600000 check (max_latency_ms > 0),
  enabled boolean not null default true,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (organization_id, id),
  unique (organization_id, slug),
  foreign key (organization_id, provider_id) references providers (organization_id, id),
  foreign key (organization_id, provider_id, credential_id) references credentials (organization_id, provider_id, id)
);
create index endpoints_by_provider on endpoints (organization_id, provider_id, credential_id);
create trigger touch_endpoints before update on endpoints for each row execute function touch_row();

create table lanes (
  organization_id uuid not null references organizations (id) on delete cascade,
  id uuid not null,
  name text not null check (length(name) between 1 and 200),
  slug text not null check (length(slug) between 1 and 100 and slug !~ '[/[:space:]]'),
  description text not null default '' check (length(description) <= 2000),
  default_max_wait_ms integer not null default 30000 check (default_max_wait_ms >= 0),
  allow_fallback boolean not null default true,
  selection text not null default 'preferred' check (selection in ('preferred', 'soonest')),
  hidden boolean not null default false,
  enabled boolean not null default true,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (organization_id, id),
  unique (organization_id, slug)
);
create trigger touch_lanes before update on lanes for each row execute function touch_row();

create table lane_memberships (
  organization_id uuid not null references organizations (id) on delete cascade,
  id uuid not null,
  lane_id uuid not null,
  endpoint_id uuid not null,
  manual_rank integer not null,
  enabled boolean not null default true,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (organization_id, id),
  unique (organization_id, lane_id, endpoint_id),
  foreign key (organization_id, lane_id) references lanes (organization_id, id) on delete cascade,
  foreign key (organization_id, endpoint_id) references endpoints (organization_id, id) on delete cascade
);
create index lane_memberships_by_endpoint on lane_memberships (organization_id, endpoint_id);
create trigger touch_lane_memberships before update on lane_memberships for each row execute function touch_row();

create table guardrails (
  organization_id uuid not null references organizations (id) on delete cascade,
  id uuid not null,
  name text not null check (length(name) between 1 and 200),
  slug text not null check (length(slug) between 1 and 100 and slug !~ '[/[:space:]]'),
  preset_slug text not null check (length(preset_slug) between 1 and 100),
  base_url text not null check (base_url ~ '^https?://' and length(base_url) <= 2048),
  http_method text not null default 'POST' check (http_method in ('POST', 'PUT')),
  auth_mode text not null default 'none' check (auth_mode in ('none', 'bearer_static', 'header_static')),
  secret_header_name text check (length(secret_header_name) between 1 and 200),
  -- Sealed like a provider credential, bound to organization, guardrail and secret_version.
  sealed_secret bytea check (octet_length(sealed_secret) between 37 and 16384),
  key_id text check (key_id ~ '^[0-9a-f]{16}$'),
  secret_version integer not null default 1 check (secret_version > 0),
  priority integer not null default 100,
  timeout_ms integer not null default 5000 check (timeout_ms between 1 and 600000),
  pre_dispatch_enabled boolean not null default false,
  post_response_enabled boolean not null default false,
  failure_mode text not null default 'fail_closed' check (failure_mode in ('fail_closed', 'fail_open')),
  request_template jsonb,
  response_rules jsonb,
  max_request_bytes integer check (max_request_bytes > 0),
  max_response_bytes integer check (max_response_bytes > 0),
  enabled boolean not null default false,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (organization_id, id),
  unique (organization_id, slug),
  check (auth_mode <> 'header_static' or secret_header_name is not null),
  check ((sealed_secret is null) = (key_id is null))
);
create index guardrails_by_key on guardrails (key_id, organization_id, id) where key_id is not null;
create trigger touch_guardrails
  before update of name, slug, preset_slug, base_url, http_method, auth_mode, secret_header_name, secret_version,
    priority, timeout_ms, pre_dispatch_enabled, post_response_enabled, failure_mode, request_template,
    response_rules, max_request_bytes, max_response_bytes, enabled
  on guardrails for each row execute function touch_row();

-- The kind of a target and its id are one pair, as on the wire. The generated columns give every kind a
-- foreign key of its own, so that a target of another organization, or one that is gone, cannot be named.
create table guardrail_bindings (
  organization_id uuid not null references organizations (id) on delete cascade,
  id uuid not null,
  guardrail_id uuid not null,
  target_type text not null check (target_type in ('global', 'lane', 'provider', 'endpoint')),
  target_id uuid,
  target_lane_id uuid generated always as (case target_type when 'lane' then target_id end) stored,
  target_provider_id uuid generated always as (case target_type when 'provider' then target_id end) stored,
  target_endpoint_id uuid generated always as (case target_type when 'endpoint' then target_id end) stored,
  enabled boolean not null default true,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (organization_id, id),
  unique nulls not distinct (organization_id, guardrail_id, target_type, target_id),
  foreign key (organization_id, guardrail_id) references guardrails (organization_id, id) on delete cascade,
  foreign key (organization_id, target_lane_id) references lanes (organization_id, id) on delete cascade,
  foreign key (organization_id, target_provider_id) references providers (organization_id, id) on delete cascade,
  foreign key (organization_id, target_endpoint_id) references endpoints (organization_id, id) on delete cascade,
  check ((target_type = 'global') = (target_id is null))
);
create index guardrail_bindings_by_target on guardrail_bindings (organization_id, target_id);
create trigger touch_guardrail_bindings before update on guardrail_bindings for each row execute function touch_row();

create table pricing_policies (
  organization_id uuid not null references organizations (id) on delete cascade,
  id uuid not null,
  endpoint_id uuid not null,
  currency text not null default 'USD' check (currency in ('USD')),
  input_cost_micros_per_1m_tokens bigint not null check (input_cost_micros_per_1m_tokens between 0 and 1000000000000),
  output_cost_micros_per_1m_tokens bigint not null check (output_cost_micros_per_1m_tokens between 0 and 1000000000000),
  -- Null: cached input costs what input costs.
  cached_input_cost_micros_per_1m_tokens bigint
    check (cached_input_cost_micros_per_1m_tokens between 0 and 1000000000000),
  flat_request_cost_micros bigint not null default 0 check (flat_request_cost_micros between 0 and 1000000000000),
  source text not null check (source in ('catalog', 'manual')),
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (organization_id, id),
  unique (organization_id, endpoint_id),
  foreign key (organization_id, endpoint_id) references endpoints (organization_id, id) on delete cascade
);
create trigger touch_pricing_policies before update on pricing_policies for each row execute function touch_row();
