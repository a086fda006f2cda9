-- The longest wait that the request might have had; null in rows of the version before.
alter table requests add column wait_budget_ms integer;

-- How many requests waited and took how long: names of bins (domain/histogram.ts), and the count of each. Only bins in use are here. The
-- version before goes on to write `wait_histogram` and `latency_histogram`; readers add what it counted there.
alter table request_rollups
  add column wait_bins integer[] not null default '{}',
  add column wait_counts bigint[] not null default '{}',
  add column latency_bins integer[] not null default '{}',
  add column latency_counts bigint[] not null default '{}';
alter table guardrail_rollups
  add column latency_bins integer[] not null default '{}',
  add column latency_counts bigint[] not null default '{}';

-- The bins of two sums: those that there were, then the new ones. Loops over what is added, which is little.
create function add_bins(had integer[], more integer[]) returns integer[]
  language plpgsql immutable parallel safe as $$
begin
  if more <@ had then return had; end if;
  for place in 1 .. cardinality(more) loop
    if array_position(had, more[place]) is null then had := had || more[place]; end if;
  end loop;
  return had;
end $$;

-- Their counts, in the same order.
create function add_counts(had_bins integer[], had bigint[], bins integer[], more bigint[]) returns bigint[]
  language plpgsql immutable parallel safe as $$
declare
  found integer;
begin
  for place in 1 .. cardinality(bins) loop
    found := array_position(had_bins, bins[place]);
    if found is null then had := had || more[place];
    else had[found] := had[found] + more[place];
    end if;
  end loop;
  return had;
end $$;
