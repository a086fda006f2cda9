import { pricingPolicyResource } from '@relay/contract';
import type { Transaction } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import { type Row, storedTable } from '../resources/rows.ts';

export const pricingPolicy = {
  noun: pricingPolicyResource.section.noun,
  table: storedTable('pricing_policies'),
};

/** The price of an endpoint, locked until commit. */
export function findPriceOf(
  tx: Transaction<Database>,
  organizationId: string,
  endpointId: string,
): Promise<Row<'pricing_policies'> | undefined> {
  return tx
    .selectFrom('pricing_policies')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('endpoint_id', '=', endpointId)
    .forUpdate()
    .executeTakeFirst();
}
