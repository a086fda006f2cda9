-- Usage and cost count at the endpoint and at the dispatch of each attempt. The version before counts requests alone, so these are differences
-- to `requests_metered`, and 0 in what it writes.

-- Attempts that were sent, and those that used something, each without `requests_metered`. Below 0 in a bucket whose requests were sent in
-- the next one, or to another endpoint.
alter table request_rollups
  add column further_attempts bigint not null default 0,
  add column further_metered bigint not null default 0,
  -- The cost of attempts that another one followed, as `cost_micros` and `cost_rounding_picos` have that of all.
  add column fallback_cost_micros bigint not null default 0,
  add column fallback_cost_rounding_picos bigint not null default 0;
alter table attributed_rollups add column further_attempts bigint not null default 0;
