-- How long a stream without content may be held for a fallback.
alter table lanes add column hold_ms integer not null default 2000 check (hold_ms between 0 and 60000);
