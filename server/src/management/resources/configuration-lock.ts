import { sql, type Transaction } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';

/**
 * Held to the end of the transaction. Writers of single resources share it; an apply of the file holds it alone,
 * so that what it has read and judged is still so when it writes. It is the first thing either of them locks,
 * which is why they cannot lock one another out.
 */
export async function lockConfiguration(
  tx: Transaction<Database>,
  organizationId: string,
  how: 'shared' | 'alone',
): Promise<void> {
  const place = sql`hashtextextended(${`relay configuration of ${organizationId}`}, 0)`;
  const lock =
    how === 'shared'
      ? sql`select pg_advisory_xact_lock_shared(${place})`
      : sql`select pg_advisory_xact_lock(${place})`;
  await lock.execute(tx);
}
