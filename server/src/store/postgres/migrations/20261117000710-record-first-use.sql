-- When a key was first used. Null also for keys that were used before this column existed.
alter table api_keys add column first_used_at timestamptz(3);
