import type { Transaction } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import { appendAudit, auditedRow } from '../audit.ts';
import type { ManagementDeps } from '../deps.ts';
import type { Row } from '../owned-rows.ts';
import type { WriteCall } from '../write-resource.ts';
import { catalogColumns, type PricedEndpoint } from './catalog-columns.ts';
import { findPriceOf, pricingPolicyRows } from './queries.ts';

type PriceRow = Row<'pricing_policies'>;

/** Prices that nobody set. Each is written in the transaction of what it follows from, with an entry of its own. */
export interface DefaultPrices {
  /** The price of an endpoint that was just created, where the catalogue knows one. */
  create(tx: Transaction<Database>, call: WriteCall, endpoint: Row<'endpoints'>): Promise<void>;
  /** The price of an endpoint whose model changes. What somebody set, or took away, stays as it is. */
  follow(
    tx: Transaction<Database>,
    call: WriteCall,
    before: Row<'endpoints'>,
    after: Pick<PricedEndpoint, 'upstream_model' | 'route_kind'>,
  ): Promise<void>;
  /** Makes room for a price that is set by hand. */
  remove(tx: Transaction<Database>, call: WriteCall, endpointId: string): Promise<void>;
}

export function defaultPrices(deps: Pick<ManagementDeps, 'clock' | 'newId'>): DefaultPrices {
  const audit = (
    tx: Transaction<Database>,
    call: WriteCall,
    before: PriceRow | null,
    after: PriceRow | null,
  ) => {
    const verb = before === null ? 'create' : after === null ? 'delete' : 'update';
    return appendAudit(tx, {
      id: deps.newId(),
      caller: call.caller,
      requestId: call.requestId,
      action: `pricing_policy.${verb}`,
      targetType: 'pricing_policy',
      targetId: (after ?? before)?.id ?? '',
      before: before && auditedRow('pricing_policies', before),
      after: after && auditedRow('pricing_policies', after),
    });
  };

  async function insert(
    tx: Transaction<Database>,
    call: WriteCall,
    endpoint: PricedEndpoint & { readonly id: string },
  ): Promise<void> {
    const columns = await catalogColumns(deps, tx, endpoint);
    if (columns === null) return;
    const row = { ...columns, id: deps.newId(), endpoint_id: endpoint.id };
    const inserted = await pricingPolicyRows.insert(tx, endpoint.organization_id, row);
    if (inserted !== undefined) await audit(tx, call, null, inserted);
  }

  return {
    create: insert,
    async follow(tx, call, before, after) {
      const { organization_id } = before;
      const changed = { ...before, ...after };
      const price = await findPriceOf(tx, organization_id, before.id);
      if (price === undefined) {
        // A model that has a price here and now has none because somebody took it away.
        if ((await catalogColumns(deps, tx, before)) === null) await insert(tx, call, changed);
        return;
      }
      if (!isDefault(price)) return;
      const columns = await catalogColumns(deps, tx, changed);
      if (columns === null) {
        await pricingPolicyRows.remove(tx, organization_id, price.id);
        await audit(tx, call, price, null);
        return;
      }
      const updated = await pricingPolicyRows.update(tx, organization_id, price.id, columns);
      await audit(tx, call, price, updated ?? null);
    },
    async remove(tx, call, endpointId) {
      const { organizationId } = call.caller;
      const price = await findPriceOf(tx, organizationId, endpointId);
      if (price === undefined || !isDefault(price)) return;
      await pricingPolicyRows.remove(tx, organizationId, price.id);
      await audit(tx, call, price, null);
    },
  };
}

function isDefault(price: PriceRow): boolean {
  return price.source === 'catalog' && price.managed_by !== 'file';
}
