-- Limits may also count by week, from Monday 00:00 UTC.
alter table limit_policies
  drop constraint limit_policies_period_check,
  add constraint limit_policies_period_check
    check (period in ('second', 'minute', 'hour', 'day', 'week', 'month', 'none'));
alter table user_limit_policies
  drop constraint user_limit_policies_period_check,
  add constraint user_limit_policies_period_check
    check (period in ('second', 'minute', 'hour', 'day', 'week', 'month', 'none'));
alter table api_key_limit_policies
  drop constraint api_key_limit_policies_period_check,
  add constraint api_key_limit_policies_period_check
    check (period in ('second', 'minute', 'hour', 'day', 'week', 'month', 'none'));
