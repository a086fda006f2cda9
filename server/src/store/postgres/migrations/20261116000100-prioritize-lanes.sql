-- Which waiting requests go first when a limit is reached. Existing lanes are `standard`: their order among one another stays.
alter table lanes add column priority text not null default 'standard'
  check (priority in ('interactive', 'standard', 'batch'));
