import { isDeepStrictEqual } from 'node:util';
import type { PricingPolicy, PricingPolicyCreate, PricingPolicyUpdate } from '@relay/contract';
import type { Transaction } from 'kysely';
import type { Handlers } from '../../http/call.ts';
import type { Database, tables } from '../../store/postgres/schema.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { heldReference } from '../resources/reference.ts';
import { conflict, invalidField } from '../resources/refusals.ts';
import type { Row } from '../resources/rows.ts';
import type { ResourceWrites } from '../resources/write-resource.ts';
import { begunPrices } from './begun-prices.ts';
import { type CatalogColumns, catalogColumns } from './catalog-columns.ts';
import { defaultPrices } from './default-price.ts';
import { demandPrices, INTEGER_MAX, type SentPrices, toColumns, toPricingPolicy } from './wire.ts';

const PRICE_FIELDS = [...Object.keys(INTEGER_MAX), 'variants', 'scheduled'] as (keyof SentPrices)[];

type PriceBody = PricingPolicyCreate | PricingPolicyUpdate;

export function pricingPolicyHandlers(
  deps: ManagementDeps,
  writes: ResourceWrites<typeof tables.pricing_policies>,
): Handlers {
  const defaults = defaultPrices(deps);

  /** The prices of the body, or the catalog's when the body says `source: "catalog"`. */
  async function columnsOf(tx: Transaction<Database>, body: PriceBody, endpoint: Row<'endpoints'>) {
    if (body.source === 'catalog')
      return toColumns(demandCatalog(body, await catalogColumns(deps, tx, endpoint)));
    return sentColumns(body);
  }

  return {
    async listPricingPolicies(call) {
      return (await writes.list(call, 'listPricingPolicies')).map(toPricingPolicy);
    },
    async createPricingPolicy(call) {
      const { body } = call;
      demandPrices(body);
      const row = await writes.create(call, async (writing, id) => {
        const { tx, organizationId } = writing;
        const endpoint = await heldReference(tx, 'endpoints', organizationId, {
          param: 'endpoint_id',
          kind: 'endpoint',
          id: body.endpoint_id,
        });
        const columns = await columnsOf(tx, body, endpoint);
        await defaults.remove(writing, endpoint.id);
        const inserted = await writes.rows.insert(tx, organizationId, {
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
          `The endpoint "${endpoint.name}" already has prices. Change that pricing policy instead.`,
        );
      });
      return toPricingPolicy(row);
    },
    async updatePricingPolicy(call) {
      const { body } = call;
      demandPrices(body);
      const row = await writes.update(
        call,
        call.params.pricing_policy_id,
        async ({ tx, organizationId }, before) => {
          const endpoint = await heldReference(tx, 'endpoints', organizationId, {
            param: 'endpoint_id',
            kind: 'endpoint',
            id: before.endpoint_id,
          });
          const columns = await columnsOf(tx, body, endpoint);
          const begun =
            columns.source !== 'catalog' && columns.source !== undefined && body.scheduled === undefined
              ? begunPrices(before.scheduled, deps.clock.nowMs())
              : null;
          return begun === null ? columns : { ...toColumns(begun), ...set(columns) };
        },
      );
      return toPricingPolicy(row);
    },
    deletePricingPolicy: (call) => writes.remove(call, call.params.pricing_policy_id),
  };
}

/** Those that are set. */
function set<T extends object>(columns: T): T {
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined)) as T;
}

function sentColumns(body: PriceBody) {
  const prices: SentPrices = Object.fromEntries(PRICE_FIELDS.map((field) => [field, body[field]]));
  const sent = PRICE_FIELDS.some((field) => body[field] !== undefined);
  if (!sent) return { ...toColumns(prices), currency: body.currency, source: body.source };
  const isListed = body.source === 'litellm' || body.source === 'models_dev';
  const source: PricingPolicy['source'] = isListed && body.source !== undefined ? body.source : 'manual';
  return { ...toColumns(prices), currency: body.currency, source, as_of: null };
}

/** Rejects prices that differ from the catalog's, because the policy would be shown as a catalog price. */
function demandCatalog(body: PriceBody, columns: CatalogColumns | null): CatalogColumns {
  if (columns === null) {
    throw invalidField(
      'source',
      'Relay’s price list has no price for this model at this provider. Omit source and send the prices.',
    );
  }
  const other = PRICE_FIELDS.find(
    (field) => body[field] !== undefined && !isDeepStrictEqual(body[field], columns[field]),
  );
  if (other === undefined) return columns;
  throw invalidField(
    other,
    `${other} is ${JSON.stringify(columns[other])} in Relay’s price list. Omit it, or omit source to set your own price.`,
  );
}
