import { DEPLOYMENT_USER_ID } from '@relay/contract';
import { type Kysely, sql, type Transaction } from 'kysely';
import { isPlanName } from '../../domain/access.ts';
import type { AccountsSetting } from '../../domain/accounts.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { Standing } from '../api-keys/standing.ts';
import type { RowRange } from '../resources/rows.ts';

/** A membership with its user. The id is the user's id. */
export type MemberRow = Awaited<ReturnType<typeof listMembers>>[number];

/** Ordered by id. Without accounts, the one that the tokens act for; with accounts, the people. */
export function listMembers(
  db: Kysely<Database>,
  organizationId: string,
  { accounts }: AccountsSetting,
  { afterId, limit }: RowRange,
) {
  return membersOf(db, organizationId)
    .$if(accounts, (query) => query.where('member.user_id', '!=', DEPLOYMENT_USER_ID))
    .$if(afterId !== undefined, (query) => query.where('member.user_id', '>', afterId ?? ''))
    .orderBy('member.user_id')
    .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
    .execute();
}

/** A person: the row that the admin token acts through is not a member. */
export function findMember(
  db: Kysely<Database>,
  organizationId: string,
  userId: string,
): Promise<MemberRow | undefined> {
  if (userId === DEPLOYMENT_USER_ID) return Promise.resolve(undefined);
  return membersOf(db, organizationId).where('member.user_id', '=', userId).executeTakeFirst();
}

/**
 * The standings of these members and of all people who are owners, locked until commit. Every change of members locks all
 * owners in the same order, so two concurrent changes cannot each remove what is then the last owner.
 */
export async function lockStandings(
  tx: Transaction<Database>,
  organizationId: string,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, Standing>> {
  const rows = await tx
    .selectFrom('organization_members as member')
    .innerJoin('users', 'users.id', 'member.user_id')
    .innerJoin('organizations', 'organizations.id', 'member.organization_id')
    .select(['member.user_id', 'member.role', 'member.status', 'users.status as user_status'])
    .select('organizations.plan')
    .where('member.organization_id', '=', organizationId)
    .where((row) =>
      row.or([
        row.and([row('member.role', '=', 'owner'), row('member.user_id', '!=', DEPLOYMENT_USER_ID)]),
        row('member.user_id', 'in', [...userIds]),
      ]),
    )
    .orderBy('member.user_id')
    .forUpdate('member')
    .execute();
  const standings = rows.map((row) => ({
    userId: row.user_id,
    role: row.role,
    plan: isPlanName(row.plan) ? row.plan : ('closed' as const),
    active: row.status === 'active' && row.user_status === 'active',
  }));
  return new Map(standings.map((standing) => [standing.userId, standing]));
}

export async function updateMember(
  tx: Transaction<Database>,
  organizationId: string,
  userId: string,
  change: Pick<MemberRow, 'role' | 'status' | 'team_id'>,
): Promise<void> {
  await tx
    .updateTable('organization_members')
    .set(change)
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .execute();
}

/** The database also deletes the member’s limits, revokes their keys, and keeps their name. */
export async function removeMember(
  tx: Transaction<Database>,
  organizationId: string,
  userId: string,
): Promise<void> {
  await tx
    .deleteFrom('organization_members')
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .execute();
}

function membersOf(db: Kysely<Database>, organizationId: string) {
  return db
    .selectFrom('organization_members as member')
    .innerJoin('users', 'users.id', 'member.user_id')
    .select(['member.user_id as id', 'users.name', 'users.email', 'users.status as user_status'])
    .select(['member.role', 'member.status', 'member.team_id', 'member.version', 'member.created_at'])
    .select(
      sql<Date | null>`(select max(key.last_used_at) from api_keys key
        where key.organization_id = member.organization_id and key.user_id = member.user_id)`.as(
        'last_seen_at',
      ),
    )
    .where('member.organization_id', '=', organizationId);
}
