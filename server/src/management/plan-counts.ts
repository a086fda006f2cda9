import { type RawBuilder, sql, type Transaction } from 'kysely';
import { type Counted, isPlanName, plans } from '../domain/access.ts';
import { RelayError } from '../domain/relay-error.ts';
import type { Database } from '../store/postgres/schema.ts';

const NOUNS: Readonly<Record<Counted, string>> = {
  providers: 'providers',
  endpoints: 'endpoints',
  lanes: 'lanes',
  guardrails: 'guardrails',
  api_keys: 'API keys',
  members: 'members and open invitations',
};

/** One row for every place that is taken. */
const TAKEN: Readonly<Record<Counted, (organizationId: string) => RawBuilder<unknown>>> = {
  providers: rowsOf('providers'),
  endpoints: rowsOf('endpoints'),
  lanes: rowsOf('lanes'),
  guardrails: rowsOf('guardrails'),
  api_keys: (organizationId) => sql`
    select from api_keys
    where organization_id = ${organizationId} and revoked_at is null and (expires_at is null or expires_at > now())`,
  members: (organizationId) => sql`
    select from organization_members where organization_id = ${organizationId}
    union all
    select from invitations
    where organization_id = ${organizationId} and accepted_at is null and revoked_at is null and expires_at > now()`,
};

function rowsOf(table: keyof Database): (organizationId: string) => RawBuilder<unknown> {
  return (organizationId) => sql`select from ${sql.table(table)} where organization_id = ${organizationId}`;
}

/**
 * Refuses what would be one more than the plan allows. Call it before anything is written: until commit no other
 * create of the same kind in the organization gets past it, so two cannot both take the last place. Who joins as a
 * member takes the same lock at the door.
 *
 * The lock is none of a row. Locking the organization's row here and the configuration clock at the end would
 * deadlock with every write that is not counted, which locks them the other way round.
 */
export async function demandRoom(
  tx: Transaction<Database>,
  organizationId: string,
  counted: Counted,
): Promise<void> {
  const row = await tx
    .selectFrom('organizations')
    .select('plan')
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow();
  const plan = isPlanName(row.plan) ? row.plan : 'closed';
  const countMax = plans[plan].counts[counted];
  if (countMax === null) return;
  const place = `relay ${counted} of ${organizationId}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${place}, 0))`.execute(tx);
  // A statement of its own: it sees what the holder before has committed.
  const rows = sql`${TAKEN[counted](organizationId)} limit ${countMax}`;
  const found = await sql<{ taken: number }>`select count(*) as taken from (${rows}) as place`.execute(tx);
  if ((found.rows[0]?.taken ?? 0) < countMax) return;
  throw new RelayError('entitlement_missing', {
    message: `The plan "${plan}" allows ${countMax} ${NOUNS[counted]}, and this organization has no place left. Remove one, or change the plan.`,
    fields: { plan, counted, limit: countMax },
  });
}
