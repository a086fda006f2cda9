import type { Transaction } from 'kysely';
import { isPlanName, type PlanName } from '../../domain/access.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { givesAccess, planFrom } from './plan-from.ts';

/**
 * The plan of all subscriptions of the organization. `unknownProductId` is a product of an active subscription
 * whose product event has not arrived; the plan is then not final.
 */
export async function subscribedPlan(
  tx: Transaction<Database>,
  organizationId: string,
): Promise<{ plan: PlanName | null; unknownProductId: string | null }> {
  const subscriptions = await tx
    .selectFrom('billing_subscriptions')
    .select(['status', 'product_ids'])
    .where('organization_id', '=', organizationId)
    .execute();
  const productIds = subscriptions.flatMap(({ product_ids }) => product_ids);
  const products = await tx
    .selectFrom('billing_products')
    .select(['id', 'plan'])
    .where('id', 'in', productIds.length === 0 ? [''] : productIds)
    .execute();
  const planOfProduct = new Map(products.map(({ id, plan }) => [id, plan]));
  const unknown = subscriptions
    .filter(givesAccess)
    .flatMap(({ product_ids }) => product_ids)
    .find((id) => !planOfProduct.has(id));
  const held = subscriptions.map(({ status, product_ids }) => ({
    status,
    plans: product_ids.map((id) => planOfProduct.get(id) ?? null),
  }));
  return { plan: planFrom(held), unknownProductId: unknown ?? null };
}

export async function currentPlan(tx: Transaction<Database>, organizationId: string): Promise<string> {
  const row = await tx
    .selectFrom('organizations')
    .select('plan')
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow();
  return isPlanName(row.plan) ? row.plan : 'closed';
}
