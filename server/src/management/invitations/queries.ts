import { type Insertable, type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import { smallestUuidAt } from '../../kit/uuid-time.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { PlanCount } from '../resources/plan-counts.ts';
import type { RowRange } from '../resources/rows.ts';

/** Members, and invitations that can still be accepted. */
export const memberCount: PlanCount = {
  counted: 'members',
  noun: 'members and open invitations',
  taken: (organizationId) => sql`
    select from organization_members where organization_id = ${organizationId}
    union all
    select from invitations
    where organization_id = ${organizationId} and accepted_at is null and revoked_at is null and expires_at > now()`,
};

export type InvitationRow = Selectable<Database['invitations']>;

/** Invitations created since a time and not withdrawn, in creation order. */
export function listInvitations(
  db: Kysely<Database>,
  organizationId: string,
  sinceMs: number,
  { afterId, limit }: RowRange,
): Promise<InvitationRow[]> {
  return db
    .selectFrom('invitations')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '>=', smallestUuidAt(sinceMs))
    .where('revoked_at', 'is', null)
    .$if(afterId !== undefined, (query) => query.where('id', '>', afterId ?? ''))
    .orderBy('id')
    .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
    .execute();
}

/** Locks an invitation that is in the list until commit. */
export function lockInvitation(
  tx: Transaction<Database>,
  organizationId: string,
  id: string,
): Promise<InvitationRow | undefined> {
  return tx
    .selectFrom('invitations')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
}

/** Undefined while another invitation for the same email address is open; the transaction continues. */
export function insertInvitation(
  tx: Transaction<Database>,
  row: Insertable<Database['invitations']>,
): Promise<InvitationRow | undefined> {
  return tx
    .insertInto('invitations')
    .values(row)
    .onConflict((clash) => clash.doNothing())
    .returningAll()
    .executeTakeFirst();
}

export async function withdrawInvitation(
  tx: Transaction<Database>,
  { organization_id, id }: InvitationRow,
  now: Date,
): Promise<void> {
  await tx
    .updateTable('invitations')
    .set({ revoked_at: now })
    .where('organization_id', '=', organization_id)
    .where('id', '=', id)
    .execute();
}

/** Expiry changes no row, so a new invitation for the same address closes the expired one. */
export async function closeExpired(
  tx: Transaction<Database>,
  organizationId: string,
  email: string,
  now: Date,
): Promise<void> {
  await tx
    .updateTable('invitations')
    .set({ revoked_at: now })
    .where('organization_id', '=', organizationId)
    .where(sql`lower(email)`, '=', sql`lower(${email})`)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '<=', now)
    .execute();
}

export async function nameOfOrganization(db: Kysely<Database>, organizationId: string): Promise<string> {
  const { name } = await db
    .selectFrom('organizations')
    .select('name')
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow();
  return name;
}

export async function memberWithAddress(
  db: Kysely<Database>,
  organizationId: string,
  email: string,
): Promise<string | undefined> {
  const found = await db
    .selectFrom('organization_members as member')
    .innerJoin('users', 'users.id', 'member.user_id')
    .select('member.user_id')
    .where('member.organization_id', '=', organizationId)
    .where(sql`lower(users.email)`, '=', sql`lower(${email})`)
    .executeTakeFirst();
  return found?.user_id;
}
