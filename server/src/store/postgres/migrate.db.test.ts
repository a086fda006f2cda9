import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import { emptyDatabase, type FreshDatabase } from '@relay/testbed';
import { silentLog } from '../fixtures/migrated-database.fixture.ts';
import { assertSchemaKnown, MIGRATIONS_DIRECTORY, migrateUp, migrationStatus } from './migrate.ts';
import { createDatabase, type DatabaseHandle } from './postgres.ts';

const names = (await readdir(MIGRATIONS_DIRECTORY)).sort();

describe('migrations', () => {
  let fresh: FreshDatabase;
  let database: DatabaseHandle;
  const directories: string[] = [];

  beforeEach(async () => {
    fresh = await emptyDatabase();
    database = createDatabase({ url: fresh.url, log: silentLog });
  });
  afterEach(async () => {
    await database.close();
    await fresh.drop();
  });
  after(() => Promise.all(directories.map((directory) => rm(directory, { recursive: true }))));

  async function withExtra(name: string, sql: string): Promise<string> {
    const directory = await mkdtemp(join(tmpdir(), 'relay-migrations-'));
    directories.push(directory);
    await cp(MIGRATIONS_DIRECTORY, directory, { recursive: true });
    await writeFile(join(directory, name), sql);
    return directory;
  }

  it('an empty database gets every migration, and a second run changes nothing', async () => {
    await database.withSession(async (session) => {
      assert.deepEqual(await migrationStatus(session), { applied: [], pending: names, unknown: [] });
      assert.deepEqual(await migrateUp(session), names);
      assert.deepEqual(await migrateUp(session), []);
      assert.deepEqual(await migrationStatus(session), { applied: names, pending: [], unknown: [] });
      await assertSchemaKnown(session);
    });
  });

  it('two processes that migrate an empty database concurrently both succeed', async () => {
    const program = new URL('../fixtures/migrate-once.fixture.ts', import.meta.url);
    const children = Array.from({ length: 3 }, () => fork(program, [fresh.url], { execArgv: [] }));
    const exits = children.map((child) => once(child, 'exit'));
    await Promise.all(children.map((child) => once(child, 'message')));
    for (const child of children) child.send('go');
    const codes = (await Promise.all(exits)).map(([code]) => code);
    assert.deepEqual(codes, [0, 0, 0]);
    await database.withSession(async (session) => {
      assert.deepEqual((await migrationStatus(session)).applied, names);
    });
  });

  it('a server refuses to start when a migration is pending, and says what to run', async () => {
    const directory = await withExtra('29990101000000-add-later.sql', 'create table later ();');
    await database.withSession(async (session) => {
      await migrateUp(session);
      await assert.rejects(
        assertSchemaKnown(session, directory),
        /is missing 1 migration.*29990101000000-add-later.*relay migrate up/,
      );
    });
  });

  it('a database of a newer version is refused by the start and by the migration', async () => {
    const directory = await withExtra('29990101000000-add-later.sql', 'create table later ();');
    await database.withSession(async (session) => {
      await migrateUp(session, directory);
      await assert.rejects(
        assertSchemaKnown(session),
        /does not know: 29990101000000-add-later.*newer version/,
      );
      await assert.rejects(migrateUp(session), /does not know/);
    });
  });

  it('a file that changed after it was applied is refused', async () => {
    const changed = await withExtra(names[0] ?? '', 'select 1;');
    await database.withSession(async (session) => {
      await migrateUp(session);
      await assert.rejects(migrationStatus(session, changed), /was changed after it was applied/);
    });
  });

  it('a failing file leaves nothing of itself, and the ones before it stay', async () => {
    const directory = await withExtra(
      '29990101000000-fail-halfway.sql',
      'create table half (); select 1 / 0;',
    );
    await database.withSession(async (session) => {
      await assert.rejects(migrateUp(session, directory), /29990101000000-fail-halfway\.sql failed/);
      const { rows } = await session.query(`select to_regclass('half') as half`);
      assert.equal(rows[0]?.['half'], null);
      assert.deepEqual((await migrationStatus(session, directory)).pending, [
        '29990101000000-fail-halfway.sql',
      ]);
    });
  });

  it('a file whose application cannot be recorded is undone', async () => {
    const directory = await withExtra(
      '29990101000000-break-record.sql',
      'create table half (); alter table schema_migrations add check (false) not valid;',
    );
    await database.withSession(async (session) => {
      await assert.rejects(migrateUp(session, directory), /29990101000000-break-record\.sql failed/);
      const { rows } = await session.query(`select to_regclass('half') as half`);
      assert.equal(rows[0]?.['half'], null);
    });
  });

  it('a file with another name is refused before anything is applied', async () => {
    const directory = await withExtra('later.sql', 'select 1;');
    await database.withSession(async (session) => {
      await assert.rejects(migrateUp(session, directory), /not named <timestamp>-<verb-noun>/);
      assert.deepEqual((await migrationStatus(session)).applied, []);
    });
  });
});
