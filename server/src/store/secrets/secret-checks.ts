import { type Kysely, sql } from 'kysely';
import type { Database } from '../postgres/schema.ts';

/** One value of a secret that the deployment uses, or still accepts. The value itself is not stored. */
export interface SecretCheck {
  /** The secret's environment variable. */
  readonly name: string;
  readonly checkId: string;
  /** The deployment's check key, sealed under this master key; null for the other secrets. */
  readonly sealedCheckKey: Buffer | null;
  readonly isActive: boolean;
  /** Since when it is the active one; null when it was before Relay recorded it. */
  readonly sinceMs: number | null;
}

export async function readSecretChecks(db: Kysely<Database>): Promise<SecretCheck[]> {
  const rows = await db.selectFrom('secret_checks').selectAll().orderBy('name').orderBy('check_id').execute();
  return rows.map((row) => ({
    name: row.name,
    checkId: row.check_id,
    sealedCheckKey: row.sealed_check_key,
    isActive: row.active,
    sinceMs: row.since?.getTime() ?? null,
  }));
}

/** Other processes and commands that change checks wait until this transaction ends. */
export async function lockSecretChecks(tx: Kysely<Database>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('secret_checks', 0))`.execute(tx);
}

export async function addSecretCheck(
  tx: Kysely<Database>,
  check: Omit<SecretCheck, 'sinceMs'> & { readonly isFromNow: boolean },
): Promise<void> {
  await tx
    .insertInto('secret_checks')
    .values({
      name: check.name,
      check_id: check.checkId,
      sealed_check_key: check.sealedCheckKey,
      active: check.isActive,
      ...(check.isFromNow && { since: sql<Date>`now()` }),
    })
    .execute();
}

/** Makes a recorded value the one in use. The others stay accepted. */
export async function activateSecretCheck(
  tx: Kysely<Database>,
  name: string,
  checkId: string,
): Promise<void> {
  await tx.updateTable('secret_checks').set({ active: false }).where('name', '=', name).execute();
  await tx
    .updateTable('secret_checks')
    .set({ active: true, since: sql<Date>`now()` })
    .where('name', '=', name)
    .where('check_id', '=', checkId)
    .execute();
}

export async function dropSecretCheck(tx: Kysely<Database>, name: string, checkId: string): Promise<void> {
  await tx
    .deleteFrom('secret_checks')
    .where('name', '=', name)
    .where('check_id', '=', checkId)
    .where('active', '=', false)
    .execute();
}
