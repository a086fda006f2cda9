import type { PricingPolicy } from '@relay/contract';
import type { Transaction } from 'kysely';
import { protocolsOf } from '../../protocols/index.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { ownedRows, type Row, storedTable } from '../resources/rows.ts';
import { type CatalogPrice, findCatalogPrice } from './price-catalog.ts';

/** The fields of an endpoint that determine its catalog price. */
export type PricedEndpoint = Pick<
  Row<'endpoints'>,
  'organization_id' | 'provider_id' | 'upstream_model' | 'route_kind'
>;

export interface CatalogColumns extends Omit<CatalogPrice, 'output_cost_micros_per_1m_tokens'> {
  readonly output_cost_micros_per_1m_tokens: number;
  readonly scheduled: PricingPolicy['scheduled'];
  readonly source: 'catalog';
  readonly as_of: null;
}

/** The catalog's price as columns; null when the catalog has no usable price for the endpoint. */
export async function catalogColumns(
  deps: Pick<ManagementDeps, 'clock'>,
  tx: Transaction<Database>,
  endpoint: PricedEndpoint,
): Promise<CatalogColumns | null> {
  const provider = await ownedRows(storedTable('providers')).find(
    tx,
    endpoint.organization_id,
    endpoint.provider_id,
  );
  return provider === undefined ? null : catalogColumnsAt(deps, provider.base_url, endpoint);
}

/** The same for an endpoint that is not stored yet. */
export async function catalogColumnsAt(
  deps: Pick<ManagementDeps, 'clock'>,
  baseUrl: string,
  endpoint: Pick<PricedEndpoint, 'upstream_model' | 'route_kind'>,
): Promise<CatalogColumns | null> {
  const price = await findCatalogPrice({ baseUrl, model: endpoint.upstream_model, atMs: deps.clock.nowMs() });
  if (price === null) return null;
  const output = price.output_cost_micros_per_1m_tokens ?? outputOf(endpoint.route_kind);
  if (output === null) return null;
  return {
    ...price,
    output_cost_micros_per_1m_tokens: output,
    scheduled: [],
    source: 'catalog',
    as_of: null,
  };
}

/** An unknown output price is fine for models without output; elsewhere it must not become zero. */
function outputOf(routeKind: PricedEndpoint['route_kind']): 0 | null {
  return protocolsOf(routeKind).some(({ hasOutput }) => hasOutput) ? null : 0;
}
