-- What an endpoint's provider speaks. All endpoints so far speak OpenAI's protocols; the version before this one writes no other.
alter table endpoints
  add column protocol text not null default 'openai' check (protocol in ('openai', 'anthropic')),
  drop constraint endpoints_route_kind_check,
  add constraint endpoints_route_kind_check
    check (route_kind in ('chat', 'responses', 'embeddings', 'messages', 'multi'));

-- Input that a provider wrote to its cache, by how long it keeps it; part of `actual_input_tokens`.
alter table requests
  add column actual_cache_write_5m_tokens bigint not null default 0,
  add column actual_cache_write_1h_tokens bigint not null default 0,
  drop constraint requests_operation_check,
  -- Every row so far passed a narrower check, so the ledger need not be read again under a lock.
  add constraint requests_operation_check
    check (operation in ('chat', 'responses', 'embeddings', 'messages', 'count_tokens')) not valid;
