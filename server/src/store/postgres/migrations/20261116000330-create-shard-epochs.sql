-- The epoch of each shard's live state in Redis. State of an older epoch, or of none, is not believed and is rebuilt. A shard gets its row with
-- its first use.
create table shard_epochs (
  shard integer not null primary key,
  epoch bigint not null,
  raised_at timestamptz(3) not null default now()
);
alter table shard_epochs enable row level security;
