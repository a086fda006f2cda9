import type { Session } from '@relay/contract';
import { type Kysely, type Selectable, sql } from 'kysely';
import type { RoleName } from '../../domain/access.ts';
import type { Database } from '../../store/postgres/schema.ts';

export type UserRow = Selectable<Database['users']>;

/** E-mail addresses are stored in lower case. */
export function plainEmail(email: string): string {
  return email.trim().toLowerCase();
}

export function findUserByEmail(db: Kysely<Database>, email: string): Promise<UserRow | undefined> {
  return db
    .selectFrom('users')
    .selectAll()
    .where(sql<string>`lower(email)`, '=', plainEmail(email))
    .executeTakeFirst();
}

export function readUser(db: Kysely<Database>, userId: string): Promise<UserRow> {
  return db.selectFrom('users').selectAll().where('id', '=', userId).executeTakeFirstOrThrow();
}

export interface Membership {
  readonly organizationId: string;
  readonly name: string;
  readonly role: RoleName;
  readonly isActive: boolean;
}

const MEMBERSHIPS_MAX = 1_000;

/** The user's active memberships, the oldest first. */
export async function membershipsOf(db: Kysely<Database>, userId: string): Promise<Membership[]> {
  return (await everyMembershipOf(db, userId)).filter(({ isActive }) => isActive);
}

/** Suspended ones too. */
export async function everyMembershipOf(db: Kysely<Database>, userId: string): Promise<Membership[]> {
  const rows = await db
    .selectFrom('organization_members as member')
    .innerJoin('organizations', 'organizations.id', 'member.organization_id')
    .select(['organizations.id', 'organizations.name', 'member.role', 'member.status'])
    .where('member.user_id', '=', userId)
    .orderBy('member.created_at')
    .orderBy('organizations.id')
    .limit(MEMBERSHIPS_MAX)
    .execute();
  return rows.map((row) => ({
    organizationId: row.id,
    name: row.name,
    role: row.role,
    isActive: row.status === 'active',
  }));
}

export function toUser(row: UserRow): Session['user'] {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    status: row.status,
    marketing_opt_in: row.marketing_opt_in,
  };
}
