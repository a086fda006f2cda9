import { type RawBuilder, sql, type Transaction } from 'kysely';
import { type Counted, isPlanName, plans } from '../../domain/access.ts';
import { RelayError } from '../../domain/relay-error.ts';
import { lockCount } from '../../store/configuration/count-lock.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { Table } from './rows.ts';

/** What a plan counts, and how. */
export interface PlanCount {
  readonly counted: Counted;
  readonly noun: string;
  /** One row for every place that is taken. */
  readonly taken: (organizationId: string) => RawBuilder<unknown>;
}

/** Counts the rows of a table. */
export function countedRows(counted: Counted, table: Pick<Table, 'name'>): PlanCount {
  return {
    counted,
    noun: counted,
    taken: (organizationId) =>
      sql`select from ${sql.table(table.name)} where organization_id = ${organizationId}`,
  };
}

/**
 * Refuses what would be one more than the plan allows. Call it before anything is written: until commit no other
 * create of the same kind in the organization gets past it. Joining as a member takes the same lock in `edge`.
 */
export async function demandRoom(
  tx: Transaction<Database>,
  organizationId: string,
  { counted, noun, taken }: PlanCount,
): Promise<void> {
  const row = await tx
    .selectFrom('organizations')
    .select('plan')
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow();
  const plan = isPlanName(row.plan) ? row.plan : 'closed';
  const countMax = plans[plan].counts[counted];
  if (countMax === null) return;
  await lockCount(tx, organizationId, counted);
  // A separate statement, so that it sees what the previous holder of the lock has committed.
  const rows = sql`${taken(organizationId)} limit ${countMax}`;
  const found = await sql<{ taken: number }>`select count(*) as taken from (${rows}) as place`.execute(tx);
  if ((found.rows[0]?.taken ?? 0) < countMax) return;
  throw new RelayError('entitlement_missing', {
    message: `The plan "${plan}" allows ${countMax} ${noun}, and this organization has no place left. Remove one, or change the plan.`,
    fields: { plan, counted, limit: countMax },
  });
}
