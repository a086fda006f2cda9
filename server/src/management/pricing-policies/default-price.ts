import type { ManagementDeps } from '../resources/deps.ts';
import { ownedRows, type Row } from '../resources/rows.ts';
import { recorded } from '../resources/write-configuration.ts';
import type { Writing } from '../resources/write-resource.ts';
import { catalogColumns, type PricedEndpoint } from './catalog-columns.ts';
import { findPriceOf, pricingPolicy } from './queries.ts';
import { toColumns } from './wire.ts';

/**
 * Prices from the catalog. Each is written in the transaction of the endpoint's change, with its own audit
 * entry.
 */
export interface DefaultPrices {
  /** The price of an endpoint that was just created, where the catalog has one. */
  create(writing: Writing, endpoint: Row<'endpoints'>): Promise<void>;
  /** The price of an endpoint whose model changes. A price that a user set or deleted stays as it is. */
  follow(
    writing: Writing,
    before: Row<'endpoints'>,
    after: Pick<PricedEndpoint, 'upstream_model' | 'route_kind'>,
  ): Promise<void>;
  /** Removes the catalog's price before a user sets one. */
  remove(writing: Writing, endpointId: string): Promise<void>;
}

export function defaultPrices(deps: Pick<ManagementDeps, 'clock' | 'newId'>): DefaultPrices {
  const rows = ownedRows(pricingPolicy.table);

  async function insert(
    { tx, also }: Writing,
    endpoint: PricedEndpoint & { readonly id: string },
  ): Promise<void> {
    const columns = await catalogColumns(deps, tx, endpoint);
    if (columns === null) return;
    const row = { ...toColumns(columns), id: deps.newId(), endpoint_id: endpoint.id };
    const inserted = await rows.insert(tx, endpoint.organization_id, row);
    if (inserted !== undefined) also(recorded(pricingPolicy, null, inserted));
  }

  async function remove({ tx, also }: Writing, price: Row<'pricing_policies'>): Promise<void> {
    await rows.remove(tx, price.organization_id, price.id);
    also(recorded(pricingPolicy, price, null));
  }

  return {
    create: insert,
    async follow(writing, before, after) {
      const { tx, also } = writing;
      const changed = { ...before, ...after };
      const price = await findPriceOf(tx, before.organization_id, before.id);
      if (price === undefined) {
        // The catalog has a price for the old model and the endpoint has none: a user deleted it.
        if ((await catalogColumns(deps, tx, before)) === null) await insert(writing, changed);
        return;
      }
      if (!isDefault(price)) return;
      const columns = await catalogColumns(deps, tx, changed);
      if (columns === null) return remove(writing, price);
      const updated = await rows.update(tx, before.organization_id, price.id, toColumns(columns));
      also(recorded(pricingPolicy, price, updated ?? null));
    },
    async remove(writing, endpointId) {
      const price = await findPriceOf(writing.tx, writing.organizationId, endpointId);
      if (price !== undefined && isDefault(price)) await remove(writing, price);
    },
  };
}

function isDefault(price: Row<'pricing_policies'>): boolean {
  return price.source === 'catalog' && price.managed_by !== 'file';
}
