-- Headers and query parameters that go with every request to the provider; null for none. The version before this one leaves them null.
alter table providers
  add column extra_headers jsonb,
  add column extra_query jsonb;
