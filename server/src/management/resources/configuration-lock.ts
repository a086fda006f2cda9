import { type Kysely, sql, type Transaction } from 'kysely';
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
  const place = placeOf('configuration', organizationId);
  const lock =
    how === 'shared'
      ? sql`select pg_advisory_xact_lock_shared(${place})`
      : sql`select pg_advisory_xact_lock(${place})`;
  await lock.execute(tx);
}

/**
 * Held until the transaction ends, so that names which two writes give concurrently meet. Taken last, before the version alone: a holder waits for
 * no row, which prevents deadlocks.
 */
export async function lockNames(tx: Kysely<Database>, organizationId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${placeOf('callable names', organizationId)})`.execute(tx);
}

function placeOf(what: string, organizationId: string) {
  return sql`hashtextextended(${`relay ${what} of ${organizationId}`}, 0)`;
}
