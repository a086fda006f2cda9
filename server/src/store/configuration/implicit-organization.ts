import type { Kysely } from 'kysely';
import type { Database } from '../postgres/schema.ts';

/** The ids are fixed, so every process of a deployment uses the same organization without asking. */
const IMPLICIT_ORGANIZATION_ID = '00000000-0000-7000-8000-000000000001';
/**
 * The user that the tokens of a self-hosted deployment act for. It has a membership, because keys, limits and sessions need one,
 * but it is not a person: no list of members has it, and the database keeps its membership as it is.
 */
export const DEPLOYMENT_USER_ID = '00000000-0000-7000-8000-000000000002';

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
