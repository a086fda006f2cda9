-- A hard limit reserves the most that a request can use. It needs prices, and limits on requests and concurrency are exact without it.
alter table limit_policies add column enforcement text not null default 'estimate' check (enforcement in ('estimate', 'hard')),
  add check (enforcement = 'estimate' or metric = 'tokens' or (metric = 'spend' and unpriced = 'refuse'));
alter table user_limit_policies add column enforcement text not null default 'estimate' check (enforcement in ('estimate', 'hard')),
  add check (enforcement = 'estimate' or metric = 'tokens' or (metric = 'spend' and unpriced = 'refuse'));
alter table api_key_limit_policies add column enforcement text not null default 'estimate' check (enforcement in ('estimate', 'hard')),
  add check (enforcement = 'estimate' or metric = 'tokens' or (metric = 'spend' and unpriced = 'refuse'));
