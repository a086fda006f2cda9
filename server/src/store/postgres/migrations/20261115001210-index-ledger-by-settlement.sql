-- The live tail asks, twice a second for each organization that somebody follows, for what was written lately. Requests are
-- written in another order than they arrived in, so the order of their ids does not tell.
create index requests_by_settlement on requests (organization_id, settled_at);
