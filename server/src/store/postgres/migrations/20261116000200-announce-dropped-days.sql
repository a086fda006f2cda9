-- Days of the ledger that retention is about to drop. A day is announced an hour before, and no other while one is announced, so
-- that a wrong clock or a wrong setting costs two days at most before it is noticed.
create table announced_drops (
  day text not null primary key check (day ~ '^\d{4}-\d{2}-\d{2}$'),
  announced_at timestamptz(3) not null default now()
);
alter table announced_drops enable row level security;
