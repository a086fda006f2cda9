import type { PricingPolicyCreate, PricingPolicyUpdate } from '@relay/contract';
import type { Transaction } from 'kysely';
import type { Handlers } from '../../http/call.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { ManagementDeps } from '../deps.ts';
import { endpointRows } from '../endpoints/queries.ts';
import type { Row } from '../owned-rows.ts';
import { listRows } from '../paging.ts';
import { heldReference } from '../reference.ts';
import { conflict, invalidField } from '../refusals.ts';
import { demandStorable } from '../storable-body.ts';
import { resourceWrites } from '../write-resource.ts';
import { type CatalogColumns, catalogColumns } from './catalog-columns.ts';
import { defaultPrices } from './default-price.ts';
import { pricingPolicyRows } from './queries.ts';
import { INTEGER_MAX, toPricingPolicy } from './wire.ts';

const PRICE_FIELDS = Object.keys(INTEGER_MAX) as (keyof typeof INTEGER_MAX)[];

type PriceBody = PricingPolicyCreate | PricingPolicyUpdate;

export function pricingPolicyHandlers(deps: ManagementDeps): Handlers {
  const writes = resourceWrites(deps, pricingPolicyRows, 'pricing_policy');
  const defaults = defaultPrices(deps);

  /** What a body sets: prices of one's own, or, asked for as such, those of the catalogue. */
  async function columnsOf(tx: Transaction<Database>, body: PriceBody, endpoint: Row<'endpoints'>) {
    if (body.source === 'catalog') return demandCatalog(body, await catalogColumns(deps, tx, endpoint));
    const prices = Object.fromEntries(PRICE_FIELDS.map((field) => [field, body[field]]));
    const sent = PRICE_FIELDS.some((field) => body[field] !== undefined);
    return { ...prices, currency: body.currency, source: sent ? ('manual' as const) : body.source };
  }

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
        const columns = await columnsOf(tx, body, endpoint);
        await defaults.remove(tx, call, endpoint.id);
        const inserted = await pricingPolicyRows.insert(tx, caller.organizationId, {
          id,
          endpoint_id: endpoint.id,
          input_cost_micros_per_1m_tokens: body.input_cost_micros_per_1m_tokens,
          output_cost_micros_per_1m_tokens: body.output_cost_micros_per_1m_tokens,
          ...columns,
          source: columns.source ?? 'manual',
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
      const { body, caller } = call;
      demandStorable(body, INTEGER_MAX);
      const row = await writes.update(call, call.params.pricing_policy_id, async (tx, before) => {
        const endpoint = await heldReference(tx, endpointRows, caller.organizationId, {
          param: 'endpoint_id',
          kind: 'endpoint',
          id: before.endpoint_id,
        });
        return columnsOf(tx, body, endpoint);
      });
      return toPricingPolicy(row);
    },
    deletePricingPolicy: (call) => writes.remove(call, call.params.pricing_policy_id),
  };
}

/** What is shown as the catalogue's is the catalogue's. */
function demandCatalog(body: PriceBody, columns: CatalogColumns | null): CatalogColumns {
  if (columns === null) {
    throw invalidField(
      'source',
      'The catalogue has no price for the model of this endpoint at this provider. Leave source out, and send the prices.',
    );
  }
  const other = PRICE_FIELDS.find((field) => body[field] !== undefined && body[field] !== columns[field]);
  if (other === undefined) return columns;
  throw invalidField(
    other,
    `${other} is ${columns[other]} in the catalogue. Leave it out, or leave source out to set a price of your own.`,
  );
}
