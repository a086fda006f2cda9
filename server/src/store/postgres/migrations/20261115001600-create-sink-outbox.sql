-- What a sink beside the ledger still has to write. A transaction of the ledger adds one entry for each sink, with the rows that
-- it inserted; the entry goes when a portion that holds these rows is committed. Empty in a deployment without such a sink.
create table sink_outbox (
  id uuid not null default gen_random_uuid() primary key,
  sink text not null,
  request_ids uuid[] not null,
  -- Those of them that were estimates of lost gateways. A later transaction may replace these rows, with an entry of its own.
  estimate_ids uuid[] not null default '{}',
  row_count integer not null,
  created_at timestamptz(3) not null default now()
);
create index sink_outbox_oldest_first on sink_outbox (sink, created_at, id);
create index sink_outbox_by_age on sink_outbox (created_at);

-- The fate of a portion: the first of the two outcomes to be written is final.
create table sink_portions (
  sink text not null,
  id text not null,
  outcome text not null check (outcome in ('committed', 'discarded')),
  decided_at timestamptz(3) not null default now(),
  primary key (sink, id)
);
create index sink_portions_by_age on sink_portions (decided_at);

-- Which worker writes portions for a sink. It only saves double work: `sink_portions` decides.
create table sink_leases (
  sink text not null primary key,
  holder text not null,
  expires_at timestamptz(3) not null
);

alter table sink_outbox enable row level security;
alter table sink_portions enable row level security;
alter table sink_leases enable row level security;
