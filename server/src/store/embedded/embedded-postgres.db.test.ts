import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { RelayError } from '../../domain/relay-error.ts';
import { systemClock } from '../../kit/clock.ts';
import { silentLog } from '../fixtures/migrated-database.fixture.ts';
import type { DatabaseHandle } from '../postgres/postgres.ts';
import { DirectoryInUseError } from './data-directory-lock.ts';
import { createEmbeddedDatabase } from './embedded-postgres.ts';
import { ConnectionHeldError } from './one-connection.ts';
import { startUpkeep } from './upkeep.ts';

const WRITER = new URL('../fixtures/embedded-writer.fixture.ts', import.meta.url);
const SOME_ID = '01990000-0000-7000-8000-000000000000';

function open(directory: string): Promise<DatabaseHandle> {
  return createEmbeddedDatabase({ directory, log: silentLog, clock: systemClock });
}

async function textOf(database: DatabaseHandle, setting: string): Promise<string> {
  const { rows } = await sql<{ value: string }>`select current_setting(${setting}) as value`.execute(
    database.db,
  );
  return rows[0]?.value ?? '';
}

function isUnavailable(error: unknown): boolean {
  return error instanceof RelayError && error.code === 'store_unavailable';
}

describe('the embedded PostgreSQL', () => {
  let directory: string;
  let database: DatabaseHandle;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'relay-test-'));
    database = await open(directory);
    await sql`create table notes (id integer primary key, text text)`.execute(database.db);
    await sql`create role relay_app nologin`.execute(database.db);
  });
  after(async () => {
    await database.close();
    await rm(directory, { recursive: true });
  });

  it('forces what is committed to the disk', async () => {
    assert.equal(await textOf(database, 'fsync'), 'on');
    assert.equal(await textOf(database, 'synchronous_commit'), 'on');
    assert.equal(await textOf(database, 'wal_sync_method'), 'fsync');
  });

  it('keeps its files from other users of the machine', async () => {
    assert.equal((await stat(join(directory, 'postgres'))).mode & 0o777, 0o700);
  });

  it('reads values as the driver does for a server', async () => {
    const { rows } = await sql`
      select 9007199254740991::bigint as big, array[1, 2]::bigint[] as bigs, '\\x00ff'::bytea as bytes,
        '{"a": [1]}'::jsonb as json, timestamptz '2026-11-15 00:00:00.123Z' as time, array['a', null] as texts`.execute(
      database.db,
    );
    assert.deepEqual(rows, [
      {
        big: Number.MAX_SAFE_INTEGER,
        bigs: [1, 2],
        bytes: Buffer.from([0, 255]),
        json: { a: [1] },
        time: new Date('2026-11-15T00:00:00.123Z'),
        texts: ['a', null],
      },
    ]);
  });

  it('acts as an organization for its queries and as itself for the others, in turns', async () => {
    const who = sql<{ who: string; organization: string }>`
      select current_user as who, coalesce(current_setting('relay.organization_id', true), '') as organization`;
    for (let round = 0; round < 3; round += 1) {
      const [ofOrganization, own] = await Promise.all([
        who.execute(database.ofOrganization(SOME_ID)),
        who.execute(database.db),
      ]);
      assert.deepEqual(ofOrganization.rows, [{ who: 'relay_app', organization: SOME_ID }]);
      assert.deepEqual(own.rows, [{ who: 'postgres', organization: '' }]);
    }
  });

  it('serves concurrent callers in turns, and a transaction makes the others wait', async () => {
    const order: string[] = [];
    const transaction = database.db.transaction().execute(async (tx) => {
      await sql`insert into notes values (1, 'first')`.execute(tx);
      await pause(50);
      order.push('transaction');
    });
    await Promise.all([
      transaction,
      ...Array.from({ length: 20 }, async () => {
        await sql`select 1`.execute(database.db);
        order.push('query');
      }),
    ]);
    assert.equal(order[0], 'transaction');
    assert.equal(order.length, 21);
  });

  it('rejects a caller that holds a connection and asks for another, instead of waiting forever', async () => {
    const nested = database.db.transaction().execute(() => sql`select 1`.execute(database.db));
    await assert.rejects(nested, ConnectionHeldError);
    const inSession = database.withSession(() => database.query({ name: 'n', text: 'select 1', values: [] }));
    await assert.rejects(inSession, ConnectionHeldError);
    await sql`select 1`.execute(database.db);
  });

  it('leaves nothing of one session to the next', async () => {
    await database.withSession(async (session) => {
      await session.query("set application_name = 'somebody'");
      await session.query('select pg_advisory_lock(1)');
      await session.query('begin');
      await session.query("insert into notes values (2, 'never committed')");
    });
    assert.equal(await textOf(database, 'application_name'), '');
    const left = await sql`select 1 from pg_locks where locktype = 'advisory'
      union all select 1 from notes where id = 2`.execute(database.db);
    assert.deepEqual(left.rows, []);
  });

  it('ends a statement that takes too long, rolls it back, and continues', async () => {
    const tooLong = database.withSession(
      (session) =>
        session.query("insert into notes select 1000 + i, 'x' from generate_series(1, 1000000000) i"),
      300,
    );
    const startedMs = performance.now();
    await assert.rejects(tooLong, isUnavailable);
    assert.ok(performance.now() - startedMs < 5_000);
    const { rows } = await sql`select id from notes order by id`.execute(database.db);
    assert.deepEqual(rows, [{ id: 1 }]);
  });

  it('gives hints of notifications, also after it was interrupted', async () => {
    let hints = 0;
    const arrived = new EventTarget();
    const subscription = database.listen('news', () => {
      hints += 1;
      arrived.dispatchEvent(new Event('hint'));
    });
    await once(arrived, 'hint');
    assert.equal(subscription.connected(), true);
    await sql`select pg_notify('news', 'x')`.execute(database.db);
    assert.equal(hints, 2);
    const endless = database.withSession(
      (session) => session.query('select count(*) from generate_series(1, 1000000000)'),
      200,
    );
    await assert.rejects(endless, isUnavailable);
    await sql`select pg_notify('news', 'x')`.execute(database.db);
    assert.equal(hints, 3);
    await subscription.close();
    await sql`select pg_notify('news', 'x')`.execute(database.db);
    assert.equal(hints, 3);
  });

  it('does itself what a server has processes for: checkpoints and the removal of dead rows', async () => {
    await sql`create table busy as select i, repeat('x', 1000) as text from generate_series(1, 20000) i`.execute(
      database.db,
    );
    await sql`update busy set text = repeat('y', 1000)`.execute(database.db);
    const state = async () => {
      const { rows } = await sql<{ log: number; dead: number }>`
        select pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::float8 as log,
          (select n_dead_tup from pg_stat_user_tables where relname = 'busy') as dead
        from pg_control_checkpoint()`.execute(database.db);
      return rows[0] ?? { log: 0, dead: 0 };
    };
    // Statistics are reported at most once a second, unless requested.
    await sql`select pg_stat_force_next_flush()`.execute(database.db);
    const before = await state();
    assert.ok(before.log > 32 * 1024 * 1024 && before.dead >= 20_000, JSON.stringify(before));
    const upkeep = startUpkeep({ database, clock: systemClock, log: silentLog, everyMs: 10 });
    try {
      for (let now = before; now.log > 32 * 1024 * 1024 || now.dead > 0; now = await state()) await pause(50);
    } finally {
      await upkeep.stop();
    }
  });

  it('refuses a second one on the same directory, naming the process', async () => {
    await assert.rejects(open(directory), (error: Error) => {
      assert.ok(error instanceof DirectoryInUseError);
      assert.ok(error.message.includes(directory) && error.message.includes(String(process.pid)));
      return true;
    });
  });
});

describe('an embedded PostgreSQL whose process is killed', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'relay-test-'));
  });
  after(() => rm(directory, { recursive: true }));

  it('while it is being made for the first time, is made by the next one', async () => {
    const child = fork(WRITER, [directory], { execArgv: [] });
    while (!existsSync(join(directory, 'postgres/base'))) await pause(1);
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.ok(existsSync(join(directory, 'postgres.creating')));
    // The worst case of an interrupted creation: it looks like a database and is unusable.
    await rm(join(directory, 'postgres'), { recursive: true });
    await mkdir(join(directory, 'postgres'));
    await writeFile(join(directory, 'postgres/PG_VERSION'), '18\n');
    const database = await open(directory);
    await sql`create table written (id integer primary key)`.execute(database.db);
    await database.close();
  });

  it('never removes what it did not create', async () => {
    const other = await mkdtemp(join(tmpdir(), 'relay-test-'));
    await mkdir(join(other, 'postgres'));
    await writeFile(join(other, 'postgres/thesis.txt'), 'ten years');
    await assert.rejects(open(other), /contains files that are not a database/);
    await writeFile(join(other, 'postgres/PG_VERSION'), '18\n');
    await assert.rejects(open(other), /can’t open the database/);
    assert.equal(await readFile(join(other, 'postgres/thesis.txt'), 'utf8'), 'ten years');
    await rm(other, { recursive: true });
  });

  it('keeps what was committed and opens again, its lock being free', async () => {
    let last = 0;
    for (let round = 0; round < 3; round += 1) {
      const child = fork(WRITER, [directory], { execArgv: [] });
      const began = last;
      const enough = new Promise<void>((resolve) => {
        child.on('message', (id: number) => {
          last = id;
          if (id >= began + 20 + round * 7) resolve();
        });
      });
      await enough;
      child.kill('SIGKILL');
      await once(child, 'exit');
      const database = await open(directory);
      const { rows } = await sql<{ count: number; last: number }>`
        select count(*) as count, max(id) as last from written`.execute(database.db);
      await database.close();
      // The last commits may not have been reported.
      assert.ok(rows[0] !== undefined && rows[0].last >= last, `${JSON.stringify(rows)} of ${last}`);
      assert.equal(rows[0].count, rows[0].last);
      last = rows[0].last;
    }
  });
});
