-- Costs are exact to 10⁻¹² dollar: `actual_cost_micros` is rounded up to a whole micro-USD, and this is what the rounding added. Rows from before
-- cost whole micro-USD; they and rows of the version before this one, which leaves it out, are exact as they are. There is no check of its range: adding one
-- would read the whole ledger under a lock.
alter table requests
  add column actual_cost_rounding_picos integer not null default 0;
alter table request_rollups
  add column cost_rounding_picos bigint not null default 0;
