import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { counted } from '@relay/contract/words';
import type { Session } from './postgres.ts';

export interface MigrationStatus {
  readonly applied: readonly string[];
  /** In this build, not in the database. */
  readonly pending: readonly string[];
  /** In the database, not in this build: the schema is newer than the code. */
  readonly unknown: readonly string[];
}

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

export const MIGRATIONS_DIRECTORY: string = join(import.meta.dirname, 'migrations');
/** How long a migration may run; pass it to `withSession`. */
export const MIGRATION_TIMEOUT_MS = 15 * 60_000;

const NAME_PATTERN = /^\d{14}-[a-z0-9]+(-[a-z0-9]+)+\.sql$/;
/** An arbitrary number that no other program locks in this database. */
const LOCK_ID = 7_235_419_001;
/** How long one process waits for another to finish migrating. */
const LOCK_WAIT_MS = 120_000;
/** How long a migration may wait for a table. Queries behind it wait as long. */
const TABLE_LOCK_WAIT_MS = 10_000;

export async function migrationStatus(
  session: Session,
  directory = MIGRATIONS_DIRECTORY,
): Promise<MigrationStatus> {
  return compare(await readMigrations(directory), await readApplied(session));
}

/**
 * Applies pending migrations, each in its own transaction, and returns their names. One session lock serializes processes;
 * later ones find nothing to do.
 */
export async function migrateUp(session: Session, directory = MIGRATIONS_DIRECTORY): Promise<string[]> {
  const migrations = await readMigrations(directory);
  await session.query(`set lock_timeout = ${LOCK_WAIT_MS}`);
  await session.query('select pg_advisory_lock($1)', [LOCK_ID]);
  try {
    await session.query(`set lock_timeout = ${TABLE_LOCK_WAIT_MS}`);
    await session.query(`create table if not exists schema_migrations (
      name text primary key,
      checksum text not null,
      applied_at timestamptz(3) not null default now()
    )`);
    const status = compare(migrations, await readApplied(session));
    if (status.unknown.length > 0) throw new Error(newerSchemaMessage(status.unknown));
    const pending = migrations.filter((migration) => status.pending.includes(migration.name));
    for (const migration of pending) await apply(session, migration);
    return pending.map((migration) => migration.name);
  } finally {
    // The lock ends with the session.
    await session.query('select pg_advisory_unlock($1)', [LOCK_ID]).catch(() => undefined);
  }
}

/** Rejects a database that this build does not fit. A server calls it before it serves. */
export async function assertSchemaKnown(session: Session, directory = MIGRATIONS_DIRECTORY): Promise<void> {
  const { pending, unknown } = await migrationStatus(session, directory);
  if (unknown.length > 0) throw new Error(newerSchemaMessage(unknown));
  if (pending.length > 0) {
    throw new Error(
      `The database is missing ${counted(pending.length, 'migration')} that this version needs: ${pending.join(', ')}. ` +
        'Run `relay migrate up`, then start again.',
    );
  }
}

function newerSchemaMessage(unknown: readonly string[]): string {
  return (
    `The database has ${counted(unknown.length, 'migration')} that this version does not know: ${unknown.join(', ')}. ` +
    'A newer version has migrated it; run that version or a later one.'
  );
}

async function readMigrations(directory: string): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  if (names.length === 0)
    throw new Error('This build contains no migrations; the installation is incomplete.');
  return Promise.all(
    names.map(async (name) => {
      if (!NAME_PATTERN.test(name)) {
        throw new Error(`The migration ${name} is not named <timestamp>-<verb-noun>.sql.`);
      }
      const sql = (await readFile(join(directory, name), 'utf8')).replaceAll('\r\n', '\n');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/** Name → checksum. */
async function readApplied(session: Session): Promise<Map<string, string>> {
  const table = await session.query(`select to_regclass('schema_migrations') is not null as present`);
  if (table.rows[0]?.['present'] !== true) return new Map();
  const { rows } = await session.query('select name, checksum from schema_migrations');
  return new Map(rows.map((row) => [String(row['name']), String(row['checksum'])]));
}

function compare(migrations: readonly Migration[], applied: ReadonlyMap<string, string>): MigrationStatus {
  const known = new Set(migrations.map((migration) => migration.name));
  for (const { name, checksum } of migrations) {
    if (applied.has(name) && applied.get(name) !== checksum) {
      throw new Error(
        `The migration ${name} was changed after it was applied. Restore the file; put the change in a new migration.`,
      );
    }
  }
  return {
    applied: [...applied.keys()].sort(),
    pending: [...known].filter((name) => !applied.has(name)),
    unknown: [...applied.keys()].filter((name) => !known.has(name)).sort(),
  };
}

async function apply(session: Session, migration: Migration): Promise<void> {
  await session.query('begin');
  try {
    await session.query(migration.sql);
    await session.query('insert into schema_migrations (name, checksum) values ($1, $2)', [
      migration.name,
      migration.checksum,
    ]);
    await session.query('commit');
  } catch (error) {
    await session.query('rollback').catch(() => undefined);
    throw new Error(`The migration ${migration.name} failed and was rolled back: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

/** PostgreSQL's message and hint. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const hint: unknown = 'hint' in error ? error.hint : undefined;
  return typeof hint === 'string' ? `${error.message}. ${hint}` : `${error.message}.`;
}
