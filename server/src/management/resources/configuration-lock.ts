import { sql, type Transaction } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';

/**
 * Held until the transaction ends. Writers of single resources share it; an apply of the file holds it
 * exclusively, so that what it checked is still true when it writes. Both take it before any other lock, which
 * prevents deadlocks.
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
