import { DEPLOYMENT_USER_ID } from '@relay/contract';
import type { Kysely } from 'kysely';
import type { Database } from '../postgres/schema.ts';

/** The IDs are fixed, so every process of a deployment uses the same organization without asking. */
const IMPLICIT_ORGANIZATION_ID = '00000000-0000-7000-8000-000000000001';
/** The one organization and owner of a self-hosted deployment. Safe to call from several processes concurrently. */
export async function ensureImplicitOrganization(
  db: Kysely<Database>,
): Promise<{ organizationId: string; userId: string }> {
  // No conflict target is named: the loser of a race may collide on the slug or the address as well as on the id.
  await db.transaction().execute(async (tx) => {
    await tx
      .insertInto('organizations')
      .values({ id: IMPLICIT_ORGANIZATION_ID, name: 'Default', slug: 'default', plan: 'self_hosted' })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await tx
      .insertInto('users')
      .values({ id: DEPLOYMENT_USER_ID, name: 'Owner', email: 'owner@localhost' })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await tx
      .insertInto('organization_members')
      .values({ organization_id: IMPLICIT_ORGANIZATION_ID, user_id: DEPLOYMENT_USER_ID, role: 'owner' })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  });
  return { organizationId: IMPLICIT_ORGANIZATION_ID, userId: DEPLOYMENT_USER_ID };
}
