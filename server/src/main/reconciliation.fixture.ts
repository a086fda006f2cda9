import { randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import { smallestUuidAt } from '../kit/uuid-time.ts';
import type { Database } from '../store/postgres/schema.ts';

/** A request id of that time. */
export function idAt(timeMs: number): string {
  const random = randomBytes(8).toString('hex');
  return `${smallestUuidAt(timeMs).slice(0, 14)}7${random.slice(0, 3)}-8${random.slice(3, 6)}-${random.slice(4)}`;
}

/** Four limits with calendar windows, and two that reconciliation skips. */
export async function addPolicies(
  db: Kysely<Database>,
  seeded: { readonly organizationId: string; readonly userId: string; readonly endpointId: string },
): Promise<void> {
  const owned = (place: number) => ({ organization_id: seeded.organizationId, id: idAt(place) });
  const global = { scope_type: 'global', limit_value: 1_000 } as const;
  await db
    .insertInto('limit_policies')
    .values([
      { ...owned(1), ...global, metric: 'requests', period: 'day' },
      { ...owned(2), ...global, metric: 'tokens', period: 'hour' },
      { ...owned(3), ...global, metric: 'spend', period: 'month' },
      // Sliding or disabled policies, which reconciliation skips.
      { ...owned(5), ...global, metric: 'requests', period: 'minute' },
      { ...owned(6), ...global, metric: 'requests', period: 'hour', enabled: false },
    ])
    .execute();
  const budget = { target_type: 'model', target_id: seeded.endpointId, limit_value: 1_000 } as const;
  await db
    .insertInto('user_limit_policies')
    .values({ ...owned(4), user_id: seeded.userId, ...budget, metric: 'requests', period: 'day' })
    .execute();
}
