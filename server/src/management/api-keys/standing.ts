import type { Kysely } from 'kysely';
import { isPlanName, type PlanName, type RoleName } from '../../domain/access.ts';
import type { Caller } from '../../domain/caller.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { Database } from '../../store/postgres/schema.ts';

/** A member's role, plan and status from the database, which may be newer than what authentication saw. */
export interface Standing {
  readonly userId: string;
  readonly role: RoleName;
  readonly plan: PlanName;
  readonly active: boolean;
}

/**
 * Standings by user id, without users who are not members. `hold` keeps the memberships from being deleted
 * until commit.
 */
export async function standingsOf(
  db: Kysely<Database>,
  organizationId: string,
  userIds: readonly string[],
  { hold }: { readonly hold: boolean },
): Promise<ReadonlyMap<string, Standing>> {
  const rows = await db
    .selectFrom('organization_members as member')
    .innerJoin('users', 'users.id', 'member.user_id')
    .innerJoin('organizations', 'organizations.id', 'member.organization_id')
    .select(['member.user_id', 'member.role', 'member.status', 'users.status as user_status'])
    .select('organizations.plan')
    .where('member.organization_id', '=', organizationId)
    .where('member.user_id', 'in', [...userIds])
    .$if(hold, (query) => query.forKeyShare('member'))
    .execute();
  const standings = rows.map((row) => ({
    userId: row.user_id,
    role: row.role,
    // As in snapshots, a plan that this version does not know gives no access.
    plan: isPlanName(row.plan) ? row.plan : ('closed' as const),
    active: row.status === 'active' && row.user_status === 'active',
  }));
  return new Map(standings.map((standing) => [standing.userId, standing]));
}

/** Throws 403 when the caller was suspended or removed after it was authenticated. */
export function activeStanding(standings: ReadonlyMap<string, Standing>, caller: Caller): Standing {
  const standing = standings.get(caller.userId);
  if (standing?.active === true) return standing;
  throw new RelayError('permission_denied', {
    message: 'The caller is no longer an active member of the organization. Ask one of its owners or admins.',
  });
}
