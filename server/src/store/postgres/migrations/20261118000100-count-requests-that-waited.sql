-- Completed requests that waited for capacity. What the version before records counts as served immediately.
alter table request_rollups add column requests_waited bigint not null default 0;
