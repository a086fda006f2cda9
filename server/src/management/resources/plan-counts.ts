import { countWords } from '@relay/contract/words';
import { type RawBuilder, sql, type Transaction } from 'kysely';
import { type Counted, isPlanName, plans } from '../../domain/access.ts';
import { RelayError } from '../../domain/relay-error.ts';
import { lockCount } from '../../store/configuration/count-lock.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { Table } from './rows.ts';

/** A resource whose number a plan limits. */
export interface PlanCount {
  readonly counted: Counted;
  readonly noun: string;
  /** A query that returns one row per counted resource. */
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
 * Throws when the plan allows no further resource. Call it before writing: it locks the count until commit, so
 * concurrent creates of the same kind wait. Joining an organization takes the same lock in `edge`.
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
    message: `The plan "${plan}" allows ${countWords(countMax)} ${noun}, and this organization has reached that limit. Remove one, or change the plan.`,
    fields: { plan, counted, limit: countMax },
  });
}
