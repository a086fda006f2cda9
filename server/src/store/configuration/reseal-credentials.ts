import { type Kysely, sql } from 'kysely';
import type { Sealer } from '../../kit/seal.ts';
import type { Database } from '../postgres/schema.ts';
import type { StoreLog } from '../store-log.ts';
import { secretBinding } from './secret-binding.ts';

export interface ResealOutcome {
  readonly resealed: number;
  /** Sealed under a key that is not configured, or damaged; left as they are. */
  readonly unreadable: number;
}

interface SealedRow {
  readonly organization_id: string;
  readonly id: string;
  /** The secret's owner: the provider of a credential, or the guardrail itself. */
  readonly owner_id: string;
  readonly sealed_secret: Buffer;
  readonly key_id: string;
  readonly secret_version: number;
}

const TABLES = [
  { table: 'credentials', ownerColumn: 'provider_id' },
  { table: 'guardrails', ownerColumn: 'id' },
  { table: 'alert_destinations', ownerColumn: 'id' },
] as const;

/**
 * The second half of a master key rotation: with the new key as primary and the old one among the previous, seals every
 * stored secret under the primary, in bounded batches. Safe to stop, repeat, and run from several processes concurrently.
 * Afterwards the old key can be removed from the configuration.
 */
export async function resealCredentials(options: {
  db: Kysely<Database>;
  sealer: Sealer;
  log: StoreLog;
  batchRows?: number;
}): Promise<ResealOutcome> {
  const { db, sealer, log, batchRows = 100 } = options;
  let resealed = 0;
  let unreadable = 0;
  for (const place of TABLES) {
    let after: SealedRow | undefined;
    do {
      const batch = await db.transaction().execute(async (tx) => {
        const rows = await selectBatch(tx, place, sealer.keyId, after, batchRows);
        for (const row of rows) {
          const done = await resealRow(tx, place.table, sealer, row, log);
          if (done) resealed += 1;
          else unreadable += 1;
        }
        return rows;
      });
      after = batch.at(-1);
    } while (after !== undefined);
  }
  return { resealed, unreadable };
}

/** Rows that are not sealed under the primary key, in index order, after the last one seen. */
async function selectBatch(
  tx: Kysely<Database>,
  place: (typeof TABLES)[number],
  primaryKeyId: string,
  after: SealedRow | undefined,
  batchRows: number,
): Promise<SealedRow[]> {
  const position = after
    ? sql`and (key_id, organization_id, id) > (${after.key_id}, ${after.organization_id}::uuid, ${after.id}::uuid)`
    : sql``;
  // "Not equal" as two ranges, because an index can serve those.
  const below = sql`key_id < ${primaryKeyId}`;
  const above = sql`key_id > ${primaryKeyId}`;
  for (const range of after !== undefined && after.key_id > primaryKeyId ? [above] : [below, above]) {
    const { rows } = await sql<SealedRow>`
      select organization_id, id, ${sql.ref(place.ownerColumn)} as owner_id, sealed_secret, key_id, secret_version
      from ${sql.table(place.table)} where ${range} ${position}
      order by key_id, organization_id, id limit ${batchRows} for update`.execute(tx);
    if (rows.length > 0) return rows;
  }
  return [];
}

async function resealRow(
  tx: Kysely<Database>,
  table: (typeof TABLES)[number]['table'],
  sealer: Sealer,
  row: SealedRow,
  log: StoreLog,
): Promise<boolean> {
  const binding = secretBinding({
    organizationId: row.organization_id,
    ownerId: row.owner_id,
    secretVersion: row.secret_version,
  });
  let sealed: Buffer;
  try {
    sealed = sealer.seal(sealer.open(row.sealed_secret, binding).reveal(), binding);
  } catch (error) {
    const fields = { organization_id: row.organization_id, table, id: row.id, key_id: row.key_id };
    log.warn({ err: error, ...fields }, 'cannot decrypt a stored secret with the configured master keys');
    return false;
  }
  await sql`update ${sql.table(table)} set sealed_secret = ${sealed}, key_id = ${sealer.keyId}
    where organization_id = ${row.organization_id} and id = ${row.id}`.execute(tx);
  return true;
}
