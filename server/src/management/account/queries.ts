import type { Kysely, Selectable, Transaction } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';

export type UserRow = Selectable<Database['users']>;

/** The user, their membership and the organization. */
export function findAccount(db: Kysely<Database>, organizationId: string, userId: string) {
  return memberUser(db, organizationId, userId)
    .innerJoin('organizations', 'organizations.id', 'member.organization_id')
    .selectAll('users')
    .select(['organizations.name as organization_name', 'member.role'])
    .executeTakeFirst();
}

/** Locks the user until commit, after concurrent changes have ended. */
export function lockUser(
  tx: Transaction<Database>,
  organizationId: string,
  userId: string,
): Promise<UserRow | undefined> {
  return memberUser(tx, organizationId, userId).selectAll('users').forUpdate('users').executeTakeFirst();
}

/**
 * The caller must have locked the row, which proves that the user is a member of the caller's organization.
 */
export function updateUser(
  tx: Transaction<Database>,
  locked: UserRow,
  patch: { readonly name?: string; readonly marketing_opt_in?: boolean },
): Promise<UserRow> {
  return tx
    .updateTable('users')
    .set(patch)
    .where('id', '=', locked.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

function memberUser(db: Kysely<Database>, organizationId: string, userId: string) {
  return db
    .selectFrom('users')
    .innerJoin('organization_members as member', 'member.user_id', 'users.id')
    .where('member.organization_id', '=', organizationId)
    .where('users.id', '=', userId);
}
