-- What a record that could not become a row said, sealed with the master key, so that it can be replayed once the cause is mended.
-- A replayed one keeps its note, so that the same request, met twice, is replayed once.
alter table poisoned_usage
  add column sealed_payload bytea,
  add column key_id text,
  add column replayed_at timestamptz(3);
create index poisoned_usage_to_replay on poisoned_usage (stream, entry_id, place) where sealed_payload is not null;
create index poisoned_usage_replayed on poisoned_usage (request_id) where replayed_at is not null;
