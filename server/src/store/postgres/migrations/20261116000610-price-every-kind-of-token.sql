-- Prices of more kinds of tokens; null: they cost what the rest of the input or output costs. `variants`: other prices by service tier and length of
-- the input. `scheduled`: prices that begin at a date. The version before this one leaves them out, and charges the four prices it knows.
alter table pricing_policies
  add column cache_write_5m_cost_micros_per_1m_tokens bigint
    check (cache_write_5m_cost_micros_per_1m_tokens between 0 and 1000000000000),
  add column cache_write_1h_cost_micros_per_1m_tokens bigint
    check (cache_write_1h_cost_micros_per_1m_tokens between 0 and 1000000000000),
  add column audio_input_cost_micros_per_1m_tokens bigint
    check (audio_input_cost_micros_per_1m_tokens between 0 and 1000000000000),
  add column image_input_cost_micros_per_1m_tokens bigint
    check (image_input_cost_micros_per_1m_tokens between 0 and 1000000000000),
  add column reasoning_cost_micros_per_1m_tokens bigint
    check (reasoning_cost_micros_per_1m_tokens between 0 and 1000000000000),
  add column audio_output_cost_micros_per_1m_tokens bigint
    check (audio_output_cost_micros_per_1m_tokens between 0 and 1000000000000),
  add column image_output_cost_micros_per_1m_tokens bigint
    check (image_output_cost_micros_per_1m_tokens between 0 and 1000000000000),
  add column variants jsonb not null default '[]',
  add column scheduled jsonb not null default '[]';
