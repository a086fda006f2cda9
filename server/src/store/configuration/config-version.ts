import { type Kysely, sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/schema.ts';

/** A hint to gateways that a version row has changed; they read what changed from the rows. */
export const CONFIG_CHANNEL = 'relay_config';

/**
 * Marks the organization's configuration as changed and returns its new version. It must end the transaction: the
 * clock's row is locked from here to commit, which makes versions visible in their order, and all other configuration
 * changes wait. The keys it names are marked with the version, so that gateways that hold them read them again.
 */
export async function bumpConfigVersion(
  tx: Transaction<Database>,
  organizationId: string,
  keyIds: readonly string[] = [],
): Promise<number> {
  const { rows } = await sql<{ config_version: number }>`
    with clock as (update config_clock set version = version + 1 returning version),
    changed as (
      update organizations set config_version = (select version from clock)
      where id = ${organizationId}
      returning id, config_version
    )
    select config_version, pg_notify(${CONFIG_CHANNEL}, id::text) from changed`.execute(tx);
  const row = rows[0];
  if (row === undefined) throw new Error(`organization ${organizationId} does not exist`);
  if (keyIds.length > 0) {
    await tx
      .updateTable('api_keys')
      .set({ changed_version: row.config_version })
      .where('organization_id', '=', organizationId)
      .where('id', 'in', [...keyIds])
      .execute();
  }
  return row.config_version;
}

/** The version that the organization's configuration has now. */
export async function readConfigVersion(db: Kysely<Database>, organizationId: string): Promise<number> {
  const organization = await db
    .selectFrom('organizations')
    .select('config_version')
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow();
  return organization.config_version;
}

/** One configuration change: what `change` writes and the version that announces it to gateways commit together. */
export async function changeConfiguration<T>(
  db: Kysely<Database>,
  organizationId: string,
  change: (tx: Transaction<Database>) => Promise<T>,
): Promise<T> {
  const { result } = await changeAccess(db, organizationId, async (tx) => ({
    result: await change(tx),
    keyIds: [],
  }));
  return result;
}

/**
 * The same for a change of permissions, with the keys that it marks; the fence must be raised to the version.
 */
export function changeAccess<T>(
  db: Kysely<Database>,
  organizationId: string,
  change: (tx: Transaction<Database>) => Promise<{ result: T; keyIds: readonly string[] }>,
): Promise<{ result: T; version: number }> {
  return db.transaction().execute(async (tx) => {
    const { result, keyIds } = await change(tx);
    const version = await bumpConfigVersion(tx, organizationId, keyIds);
    return { result, version };
  });
}

export async function readConfigClock(db: Kysely<Database>): Promise<number> {
  const row = await db.selectFrom('config_clock').select('version').executeTakeFirstOrThrow();
  return row.version;
}

export interface ConfigChange {
  readonly organizationId: string;
  readonly version: number;
  readonly deleted: boolean;
}

/** The changes after `version`, oldest first. The cost follows the changes, not the number of organizations. */
export async function readConfigChanges(
  db: Kysely<Database>,
  version: number,
  changesMax: number,
): Promise<ConfigChange[]> {
  const { rows } = await sql<{ id: string; config_version: number; deleted: boolean }>`
    (select id, config_version, false as deleted from organizations
      where config_version > ${version} order by config_version limit ${changesMax})
    union all
    (select organization_id, config_version, true from organization_tombstones
      where config_version > ${version} order by config_version limit ${changesMax})
    order by config_version limit ${changesMax}`.execute(db);
  return rows.map((row) => ({
    organizationId: row.id,
    version: row.config_version,
    deleted: row.deleted,
  }));
}
