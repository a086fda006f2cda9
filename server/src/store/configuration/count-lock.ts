import { sql, type Transaction } from 'kysely';
import type { Counted } from '../../domain/access.ts';
import type { Database } from '../postgres/schema.ts';

/**
 * Held to the end of the transaction by all that add to what a plan counts, so that two cannot both take the last place.
 * It locks no row: locking the organization's row here and the configuration clock at the end would deadlock with every
 * write that is not counted, which locks them the other way round.
 */
export async function lockCount(
  tx: Transaction<Database>,
  organizationId: string,
  counted: Counted,
): Promise<void> {
  const place = `relay ${counted} of ${organizationId}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${place}, 0))`.execute(tx);
}
