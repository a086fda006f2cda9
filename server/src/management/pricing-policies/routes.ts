import type { PricingPolicyCreate, PricingPolicyUpdate } from '@relay/contract';
import type { Handlers } from '../../http/call.ts';
import type { ManagementDeps } from '../deps.ts';
import { endpointRows } from '../endpoints/queries.ts';
import { listRows } from '../paging.ts';
import { heldReference } from '../reference.ts';
import { conflict } from '../refusals.ts';
import { demandStorable } from '../storable-body.ts';
import { resourceWrites } from '../write-resource.ts';
import { pricingPolicyRows } from './queries.ts';
import { toPricingPolicy } from './wire.ts';

/** A dollar a token; the table holds no more, so that sums stay exact. */
const PRICE_MICROS_MAX = 1_000_000_000_000;
const INTEGER_MAX = {
  input_cost_micros_per_1m_tokens: PRICE_MICROS_MAX,
  output_cost_micros_per_1m_tokens: PRICE_MICROS_MAX,
  cached_input_cost_micros_per_1m_tokens: PRICE_MICROS_MAX,
  flat_request_cost_micros: PRICE_MICROS_MAX,
};

export function pricingPolicyHandlers(deps: ManagementDeps): Handlers {
  const writes = resourceWrites(deps, pricingPolicyRows, 'pricing_policy');

  return {
    async listPricingPolicies(call) {
      return (await listRows(deps, call, 'listPricingPolicies', pricingPolicyRows)).map(toPricingPolicy);
    },
    async createPricingPolicy(call) {
      const { body, caller } = call;
      demandStorable(body, INTEGER_MAX);
      const row = await writes.create(call, async (tx, id) => {
        const endpoint = await heldReference(tx, endpointRows, caller.organizationId, {
          param: 'endpoint_id',
          kind: 'endpoint',
          id: body.endpoint_id,
        });
        const inserted = await pricingPolicyRows.insert(tx, caller.organizationId, {
          ...extrasOf(body),
          id,
          endpoint_id: endpoint.id,
          input_cost_micros_per_1m_tokens: body.input_cost_micros_per_1m_tokens,
          output_cost_micros_per_1m_tokens: body.output_cost_micros_per_1m_tokens,
          source: body.source ?? 'manual',
        });
        if (inserted !== undefined) return inserted;
        throw conflict(
          'endpoint_id',
          `The endpoint "${endpoint.name}" has prices already. Change that pricing policy instead.`,
        );
      });
      return toPricingPolicy(row);
    },
    async updatePricingPolicy(call) {
      const { body } = call;
      demandStorable(body, INTEGER_MAX);
      const row = await writes.update(call, call.params.pricing_policy_id, () => ({
        ...extrasOf(body),
        input_cost_micros_per_1m_tokens: body.input_cost_micros_per_1m_tokens,
        output_cost_micros_per_1m_tokens: body.output_cost_micros_per_1m_tokens,
        source: body.source,
      }));
      return toPricingPolicy(row);
    },
    deletePricingPolicy: (call) => writes.remove(call, call.params.pricing_policy_id),
  };
}

function extrasOf(body: PricingPolicyCreate | PricingPolicyUpdate) {
  return {
    currency: body.currency,
    cached_input_cost_micros_per_1m_tokens: body.cached_input_cost_micros_per_1m_tokens,
    flat_request_cost_micros: body.flat_request_cost_micros,
  };
}
