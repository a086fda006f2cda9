-- Under a limit on spend an endpoint without a price gets no requests, unless the limit allows it. What cannot be counted is not free.
alter table limit_policies add column unpriced text not null default 'refuse' check (unpriced in ('refuse', 'allow'));
alter table user_limit_policies add column unpriced text not null default 'refuse' check (unpriced in ('refuse', 'allow'));
alter table api_key_limit_policies add column unpriced text not null default 'refuse' check (unpriced in ('refuse', 'allow'));
