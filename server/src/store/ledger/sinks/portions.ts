import { type Kysely, sql } from 'kysely';
import type { Database } from '../../postgres/schema.ts';

export type PortionOutcome = 'committed' | 'discarded';

/** Another process has written these rows, or has discarded the portion. */
export class PortionLostError extends Error {
  override readonly name = 'PortionLostError';
}

/**
 * Removes entries from the outbox in favor of a portion that holds their rows durably. Throws `PortionLostError` when an entry is gone
 * or the portion was discarded: its rows must then not be published.
 */
export function commitPortion(
  db: Kysely<Database>,
  sink: string,
  portionId: string,
  entryIds: readonly string[],
): Promise<void> {
  return db.transaction().execute(async (tx) => {
    if (!(await decide(tx, sink, portionId, 'committed')))
      throw new PortionLostError('the portion was discarded');
    const removed = await sql`delete from sink_outbox where id = any(${entryIds}::uuid[])`.execute(tx);
    if (removed.numAffectedRows !== BigInt(entryIds.length))
      throw new PortionLostError('another process has written these rows');
  });
}

/** The final outcome of a portion: discards it unless it is committed. */
export async function settlePortion(
  db: Kysely<Database>,
  sink: string,
  portionId: string,
): Promise<PortionOutcome> {
  if (await decide(db, sink, portionId, 'discarded')) return 'discarded';
  return (await readOutcomes(db, sink, [portionId])).get(portionId) ?? 'discarded';
}

export async function readOutcomes(
  db: Kysely<Database>,
  sink: string,
  portionIds: readonly string[],
): Promise<ReadonlyMap<string, PortionOutcome>> {
  const rows = await db
    .selectFrom('sink_portions')
    .select(['id', 'outcome'])
    .where('sink', '=', sink)
    .where('id', '=', sql<string>`any(${portionIds}::text[])`)
    .execute();
  return new Map(rows.map(({ id, outcome }) => [id, outcome]));
}

/** Waits for a transaction that decides the same portion. Answers whether this outcome is the final one. */
async function decide(
  db: Kysely<Database>,
  sink: string,
  id: string,
  outcome: PortionOutcome,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('sink_portions')
    .values({ sink, id, outcome })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/** Answers whether this holder may write portions for the sink now. */
export async function takeLease(
  db: Kysely<Database>,
  sink: string,
  holder: string,
  leaseMs: number,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into sink_leases (sink, holder, expires_at)
    values (${sink}, ${holder}, clock_timestamp() + ${leaseMs}::float8 * interval '1 ms')
    on conflict (sink) do update set holder = excluded.holder, expires_at = excluded.expires_at
    where sink_leases.holder = excluded.holder or sink_leases.expires_at < clock_timestamp()`.execute(db);
  return numAffectedRows === 1n;
}

export async function releaseLease(db: Kysely<Database>, sink: string, holder: string): Promise<void> {
  await db.deleteFrom('sink_leases').where('sink', '=', sink).where('holder', '=', holder).execute();
}
