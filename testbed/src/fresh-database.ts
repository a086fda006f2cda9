import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { migrate, schemaHash } from './schema-template.ts';

export interface FreshDatabase {
  readonly url: string;
  /** Ends every connection to it. */
  drop(): Promise<void>;
}

const DEFAULT_URL = 'postgres://postgres@127.0.0.1:5432/postgres';
const TEMPLATE_PREFIX = 'relay_template_';
const UNFINISHED = 'relay_unfinished_template';
/** Older templates are dropped. A run that still uses one creates it again. */
const TEMPLATES_MAX = 5;
/** An arbitrary number that no other program locks in the server's `postgres` database. */
const LOCK_ID = 7_235_419_002;
const NO_SUCH_DATABASE = '3D000';

/**
 * Creates a database with the whole schema and no rows on the shared PostgreSQL. A missing server is an error, never a
 * reason to skip. With TEST_STORE=embedded, creates an empty directory for an embedded database instead.
 */
export async function freshDatabase(): Promise<FreshDatabase> {
  if (process.env['TEST_STORE'] === 'embedded') return freshDirectory();
  return createFrom((session, name) => copyTemplate(session, name));
}

/** Creates a database without a schema: for tests of migrations. */
export async function emptyDatabase(): Promise<FreshDatabase> {
  return createFrom((session, name) => session.query(`create database ${name}`));
}

async function createFrom(
  create: (session: pg.Client, name: string) => Promise<unknown>,
): Promise<FreshDatabase> {
  const server = serverUrl();
  const name = `relay_test_${process.pid}_${randomBytes(6).toString('hex')}`;
  await administer(server, (session) => create(session, name));
  return {
    url: urlOf(server, name),
    drop: () =>
      administer(server, (session) => session.query(`drop database if exists ${name} with (force)`)),
  };
}

/** Copying a migrated database costs a fifth of migrating one. */
async function copyTemplate(session: pg.Client, name: string): Promise<void> {
  const template = TEMPLATE_PREFIX + schemaHash();
  const copy = `create database ${name} template ${template}`;
  try {
    await session.query(copy);
  } catch (error) {
    if ((error as { code?: string }).code !== NO_SUCH_DATABASE) throw error;
    await makeTemplate(session, template);
    await session.query(copy);
  }
}

/** The lock lets one process make the template while the others wait. The database gets its name when it is complete. */
async function makeTemplate(session: pg.Client, template: string): Promise<void> {
  await session.query('select pg_advisory_lock($1)', [LOCK_ID]);
  try {
    if ((await templatesOf(session)).includes(template)) return;
    // A process that was killed while it held the lock left one behind.
    await session.query(`drop database if exists ${UNFINISHED} with (force)`);
    await session.query(`create database ${UNFINISHED}`);
    await migrate(urlOf(serverUrl(), UNFINISHED));
    await session.query(`alter database ${UNFINISHED} rename to ${template}`);
    for (const old of (await templatesOf(session)).slice(TEMPLATES_MAX))
      await session.query(`drop database if exists ${old}`);
  } finally {
    await session.query('select pg_advisory_unlock($1)', [LOCK_ID]);
  }
}

/** Returns the newest first. */
async function templatesOf(session: pg.Client): Promise<string[]> {
  const { rows } = await session.query<{ datname: string }>(
    'select datname from pg_database where starts_with(datname, $1) order by oid desc',
    [TEMPLATE_PREFIX],
  );
  return rows.map(({ datname }) => datname);
}

async function freshDirectory(): Promise<FreshDatabase> {
  const directory = await mkdtemp(join(tmpdir(), 'relay-test-'));
  return {
    url: pathToFileURL(directory).href,
    drop: () => rm(directory, { recursive: true, force: true }),
  };
}

function serverUrl(): string {
  return process.env['TEST_DATABASE_URL'] ?? DEFAULT_URL;
}

function urlOf(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

async function administer(url: string, act: (session: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
  } catch (cause) {
    const { host } = new URL(url);
    throw new Error(
      `PostgreSQL does not respond at ${host}. These tests need it: start it there, or set TEST_DATABASE_URL.`,
      { cause },
    );
  }
  try {
    await act(client);
  } finally {
    await client.end();
  }
}
