-- Which deployment this database belongs to. Redis, usage files, streams and spools carry the same id, so two deployments never share one. The id is a
-- UUIDv7: six bytes of time, and the version over random bytes.
create table deployment (
  singleton boolean primary key default true check (singleton),
  id uuid not null,
  created_at timestamptz(3) not null default now()
);
insert into deployment (id) select encode(
  set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1),
  'hex')::uuid;
alter table deployment enable row level security;
