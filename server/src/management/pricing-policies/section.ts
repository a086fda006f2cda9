import { type ConfigPricingPolicy, pricingPolicyResource } from '@relay/contract';
import type { tables } from '../../store/postgres/schema.ts';
import type { SectionOf } from '../resources/section.ts';
import { demandPrices, pricesOf, toColumns } from './wire.ts';

export const pricingPolicySection: SectionOf<ConfigPricingPolicy, typeof tables.pricing_policies> = {
  announced: pricingPolicyResource.section,
  defaults: {
    currency: 'USD',
    cached_input_cost_micros_per_1m_tokens: null,
    cache_write_5m_cost_micros_per_1m_tokens: null,
    cache_write_1h_cost_micros_per_1m_tokens: null,
    audio_input_cost_micros_per_1m_tokens: null,
    image_input_cost_micros_per_1m_tokens: null,
    reasoning_cost_micros_per_1m_tokens: null,
    audio_output_cost_micros_per_1m_tokens: null,
    image_output_cost_micros_per_1m_tokens: null,
    flat_request_cost_micros: 0,
    variants: [],
    scheduled: [],
    source: 'manual',
  },
  keyOf: ({ endpoint }) => endpoint,
  referencesOf: ({ endpoint }) => [{ field: 'endpoint', section: 'endpoints', key: endpoint }],
  entryOf: (row, keyOf) => ({
    endpoint: keyOf('endpoints', row.endpoint_id),
    currency: row.currency,
    ...pricesOf(row),
    source: row.source,
  }),
  checked(entry) {
    demandPrices(entry);
    return entry;
  },
  columnsOf: ({ endpoint, ...prices }, idOf) => ({
    ...toColumns(prices),
    endpoint_id: idOf('endpoints', endpoint),
    // What a file sets is as old as its apply.
    as_of: null,
  }),
};
