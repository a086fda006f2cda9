import { type ConfigPricingPolicy, pricingPolicyResource } from '@relay/contract';
import { demandStorable } from '../../domain/storable-fields.ts';
import type { tables } from '../../store/postgres/schema.ts';
import type { SectionOf } from '../resources/section.ts';
import { INTEGER_MAX } from './wire.ts';

export const pricingPolicySection: SectionOf<ConfigPricingPolicy, typeof tables.pricing_policies> = {
  announced: pricingPolicyResource.section,
  defaults: {
    currency: 'USD',
    cached_input_cost_micros_per_1m_tokens: null,
    flat_request_cost_micros: 0,
    source: 'manual',
  },
  keyOf: ({ endpoint }) => endpoint,
  referencesOf: ({ endpoint }) => [{ field: 'endpoint', section: 'endpoints', key: endpoint }],
  entryOf: (row, keyOf) => ({
    endpoint: keyOf('endpoints', row.endpoint_id),
    input_cost_micros_per_1m_tokens: row.input_cost_micros_per_1m_tokens,
    output_cost_micros_per_1m_tokens: row.output_cost_micros_per_1m_tokens,
    currency: row.currency,
    cached_input_cost_micros_per_1m_tokens: row.cached_input_cost_micros_per_1m_tokens,
    flat_request_cost_micros: row.flat_request_cost_micros,
    source: row.source,
  }),
  checked(entry) {
    demandStorable(entry, INTEGER_MAX);
    return entry;
  },
  columnsOf: ({ endpoint, ...prices }, idOf) => ({ ...prices, endpoint_id: idOf('endpoints', endpoint) }),
};
