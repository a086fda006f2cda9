import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { freePort, type PrivatePostgres, startPostgres, startTcpProxy, type TcpProxy } from '@relay/testbed';
import { type Kysely, sql } from 'kysely';
import { RelayError } from '../../domain/relay-error.ts';
import { seedOrganization, silentLog } from '../fixtures/migrated-database.fixture.ts';
import { migrateUp } from './migrate.ts';
import { createDatabase, type DatabaseHandle, type DatabaseOptions } from './postgres.ts';
import type { Database } from './schema.ts';

const unavailable = (error: unknown) => error instanceof RelayError && error.code === 'store_unavailable';

describe('createDatabase', () => {
  let server: PrivatePostgres;
  let proxy: TcpProxy;
  let database: DatabaseHandle | undefined;

  before(async () => {
    server = await startPostgres();
    proxy = await startTcpProxy({ target: server.url });
  });
  afterEach(async () => {
    await proxy.heal();
    await database?.close();
  });
  after(async () => {
    await proxy.close();
    await server.remove();
  });

  function open(options: Partial<DatabaseOptions> = {}): DatabaseHandle {
    database = createDatabase({ url: proxy.url, log: silentLog, connectTimeoutMs: 1_000, ...options });
    return database;
  }

  const one = (handle: DatabaseHandle) =>
    sql<{ one: number }>`select 1 as one`.execute(handle.db).then(({ rows }) => rows[0]?.one);

  it('a refused connection is store_unavailable', async () => {
    const handle = open({ url: `postgres://postgres@127.0.0.1:${await freePort()}/postgres` });
    await assert.rejects(one(handle), unavailable);
  });

  it('wrong credentials of the database are store_unavailable, never the caller’s fault', async () => {
    const handle = open({ url: proxy.url.replace('postgres@', 'nobody@') });
    await assert.rejects(one(handle), unavailable);
  });

  it('a slow statement is cancelled by its timeout, and the connection serves on', async () => {
    const handle = open({ statementTimeoutMs: 100, poolMax: 1 });
    await assert.rejects(sql`select pg_sleep(10)`.execute(handle.db), unavailable);
    assert.equal(await one(handle), 1);
  });

  it('a pool with every connection busy fails in time instead of queueing without end', async () => {
    const handle = open({ poolMax: 1 });
    await handle.withSession(() => assert.rejects(one(handle), unavailable));
    assert.equal(await one(handle), 1);
  });

  it('a connection cut inside a transaction is store_unavailable, and the next query works', async () => {
    const handle = open({ poolMax: 1 });
    const cut = handle.db.transaction().execute(async (tx) => {
      await sql`select 1`.execute(tx);
      proxy.cut();
      await sql`select 2`.execute(tx);
    });
    await assert.rejects(cut, unavailable);
    assert.equal(await one(handle), 1);
  });

  it('a network that swallows everything fails within the deadline, and the lost connection is not reused', async () => {
    const handle = open({ poolMax: 1, statementTimeoutMs: 200 });
    const seen: string[] = [];
    handle.watchConnections((event) => void seen.push(event));
    assert.equal(await one(handle), 1);
    proxy.stall();
    const startedMs = performance.now();
    const lost = one(handle);
    await assert.rejects(lost, unavailable);
    assert.ok(performance.now() - startedMs < 3_000);
    await proxy.heal();
    // A busy machine may need longer than this handle waits for a new connection.
    assert.equal(await one(handle).catch(() => one(handle)), 1);
    assert.ok(seen.includes('removed'));
  });

  it('a killed server is store_unavailable, and is used again when it is back', async () => {
    const handle = open({ url: server.url });
    assert.equal(await one(handle), 1);
    await server.kill();
    await assert.rejects(one(handle), unavailable);
    await server.start();
    assert.equal(await one(handle), 1);
  });

  it('a frozen server fails within the deadline', async () => {
    const handle = open({ url: server.url, statementTimeoutMs: 200 });
    assert.equal(await one(handle), 1);
    server.pause();
    try {
      await assert.rejects(one(handle), unavailable);
    } finally {
      server.resume();
    }
    assert.equal(await one(handle), 1);
  });

  it('a bigint is a number, and one that is too large is the largest or smallest exact one', async () => {
    const handle = open();
    const read = (value: string) =>
      sql<{ value: unknown }>`select ${value}::bigint as value`
        .execute(handle.db)
        .then(({ rows }) => rows[0]?.value);
    assert.equal(await read('9007199254740991'), Number.MAX_SAFE_INTEGER);
    assert.equal(await read('9007199254740993'), Number.MAX_SAFE_INTEGER);
    assert.equal(await read('-9223372036854775808'), Number.MIN_SAFE_INTEGER);
  });

  it('an error of the query itself passes unchanged', async () => {
    await assert.rejects(sql`select 1 / 0`.execute(open().db), { code: '22012' });
  });

  it('notifications are heard again after the connection broke', async () => {
    const handle = open();
    let heard = 0;
    let wake: (() => void) | undefined;
    const subscription = handle.listen('some_channel', () => {
      heard += 1;
      wake?.();
    });
    const untilHeard = async (count: number) => {
      while (heard < count) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    };
    await untilHeard(1);
    await sql`select pg_notify('some_channel', '')`.execute(handle.db);
    await untilHeard(2);
    proxy.cut();
    await untilHeard(3);
    await sql`select pg_notify('some_channel', '')`.execute(handle.db);
    await untilHeard(4);
    await subscription.close();
    assert.equal(subscription.connected(), false);
  });
});

describe('ofOrganization', () => {
  let server: PrivatePostgres;
  const opened: DatabaseHandle[] = [];
  before(async () => {
    server = await startPostgres();
  });
  afterEach(() => Promise.all(opened.splice(0).map((each) => each.close())));
  after(() => server.remove());

  const urlOf = (user: string, name: string) =>
    server.url.replace('postgres@', `${user}@`).replace(/postgres$/, name);
  function open(url: string, options: Partial<DatabaseOptions> = {}): DatabaseHandle {
    const handle = createDatabase({ url, log: silentLog, connectTimeoutMs: 1_000, ...options });
    opened.push(handle);
    return handle;
  }
  const migrate = (handle: DatabaseHandle) => handle.withSession((session) => migrateUp(session));
  async function asAdministrator(...statements: string[]): Promise<void> {
    const handle = open(server.url);
    for (const statement of statements) await sql.raw(statement).execute(handle.db);
  }
  const providers = async (db: Kysely<Database>) =>
    (await db.selectFrom('providers').select('id').execute()).map(({ id }) => id).sort();

  it('explains how a database user without CREATEROLE gets the role', async () => {
    await asAdministrator('create role plain login', 'create database plain owner plain');
    const handle = open(urlOf('plain', 'plain'));
    const refused =
      /isolate-organizations\.sql failed and was rolled back: the database user plain may neither create the role relay_app nor join it\. As an administrator of the server run: (create role .*;) (grant .*;)\.?$/;
    const advice = await migrate(handle).then(
      () => assert.fail('migrated without the role'),
      (error: Error) => refused.exec(error.message)?.slice(1) ?? assert.fail(error.message),
    );
    const [createRole = '', grantRole = ''] = advice;
    await asAdministrator(createRole);
    await assert.rejects(migrate(handle), refused);
    await asAdministrator(grantRole);
    await migrate(handle);
    const { organizationId, providerId } = await seedOrganization(handle.db);
    await seedOrganization(handle.db);
    assert.deepEqual(await providers(handle.ofOrganization(organizationId)), [providerId]);
    await handle.close();
    await asAdministrator('drop database plain', 'drop role relay_app', 'drop role plain');
  });

  it('holds for a database owner who is no superuser, and who sees everything without it', async () => {
    await asAdministrator('create role owning login createrole', 'create database owned owner owning');
    const handle = open(urlOf('owning', 'owned'));
    await migrate(handle);
    const ours = await seedOrganization(handle.db);
    const theirs = await seedOrganization(handle.db);
    assert.deepEqual(await providers(handle.db), [ours.providerId, theirs.providerId].sort());
    assert.deepEqual(await providers(handle.ofOrganization(ours.organizationId)), [ours.providerId]);
    const change = handle
      .ofOrganization(theirs.organizationId)
      .updateTable('providers')
      .set({ name: 'Mine' });
    assert.equal((await change.executeTakeFirst()).numUpdatedRows, 1n);
  });

  describe('on one connection after the other', () => {
    let ours: Seeded;
    let theirs: Seeded;
    before(async () => {
      const handle = open(server.url);
      await asAdministrator('create database shared');
      const shared = open(urlOf('postgres', 'shared'));
      await migrate(shared);
      ours = await seedOrganization(shared.db);
      theirs = await seedOrganization(shared.db);
      await handle.close();
    });
    /** One connection for organizations and one for the deployment. */
    const narrow = (options: Partial<DatabaseOptions> = {}) =>
      open(urlOf('postgres', 'shared'), { poolMax: 2, ...options });
    const whoami = async (db: Kysely<Database>) => {
      const { rows } = await sql<{ pid: number; role: string; organization: string | null }>`
        select pg_backend_pid() as pid, current_user as role,
          current_setting('relay.organization_id', true) as organization`.execute(db);
      return rows[0];
    };

    it('sees the organization it works for and nothing of the one before', async () => {
      const handle = narrow();
      const pids = new Set<number | undefined>();
      for (let turn = 0; turn < 3; turn += 1) {
        for (const { organizationId, providerId } of [ours, theirs]) {
          const confined = handle.ofOrganization(organizationId);
          assert.deepEqual(await providers(confined), [providerId]);
          pids.add((await whoami(confined))?.pid);
        }
        assert.deepEqual(await providers(handle.ofOrganization('')), []);
      }
      assert.equal(pids.size, 1);
    });

    it('isolates concurrent callers', async () => {
      const handle = narrow({ poolMax: 6, connectTimeoutMs: 5_000 });
      const answers = await Promise.all(
        Array.from({ length: 60 }, async (_, turn) => {
          const { organizationId, providerId } = turn % 2 === 0 ? ours : theirs;
          const seen = await handle.ofOrganization(organizationId).transaction().execute(providers);
          return seen.join() === providerId;
        }),
      );
      assert.ok(answers.every(Boolean));
    });

    it('forgets the one before after an error and after a transaction that was rolled back', async () => {
      const handle = narrow();
      const confined = handle.ofOrganization(ours.organizationId);
      await assert.rejects(sql`select 1 / 0`.execute(confined), { code: '22012' });
      const undone = confined.transaction().execute(async (tx) => {
        await tx.updateTable('providers').set({ name: 'Undone' }).execute();
        throw new Error('undo');
      });
      await assert.rejects(undone, /undo/);
      assert.deepEqual(await providers(handle.ofOrganization(theirs.organizationId)), [theirs.providerId]);
    });

    it('does not survive a change of the session’s setting', async () => {
      const handle = narrow();
      await sql`select set_config('relay.organization_id', ${theirs.organizationId}, false), set_config('role', 'none', false)`.execute(
        handle.ofOrganization(ours.organizationId),
      );
      assert.deepEqual(await providers(handle.ofOrganization(ours.organizationId)), [ours.providerId]);
    });

    it('never serves the deployment, whose connections never serve an organization', async () => {
      const handle = narrow();
      const confined = await whoami(handle.ofOrganization(ours.organizationId));
      const whole = await whoami(handle.db);
      assert.equal(confined?.role, 'relay_app');
      assert.equal(whole?.role, 'postgres');
      assert.ok(!whole?.organization);
      assert.notEqual(confined?.pid, whole?.pid);
      assert.equal((await providers(handle.db)).length, 2);
    });

    it('that may not take the role fails every time, is not lost to the pool, and works once it may', async () => {
      await asAdministrator('create role outsider login');
      const handle = open(urlOf('outsider', 'shared'), { poolMax: 2 });
      const confined = handle.ofOrganization(ours.organizationId);
      for (let turn = 0; turn < 3; turn += 1) await assert.rejects(providers(confined), { code: '42501' });
      await asAdministrator('grant relay_app to outsider');
      assert.deepEqual(await providers(confined), [ours.providerId]);
    });

    it('that breaks while its role is set is store_unavailable, and the next one works', async () => {
      const proxy = await startTcpProxy({ target: urlOf('postgres', 'shared') });
      const handle = narrow({ url: proxy.url, statementTimeoutMs: 200 });
      const confined = handle.ofOrganization(ours.organizationId);
      assert.deepEqual(await providers(confined), [ours.providerId]);
      proxy.stall();
      await assert.rejects(providers(confined), unavailable);
      await proxy.heal();
      assert.deepEqual(await providers(confined), [ours.providerId]);
      await handle.close();
      await proxy.close();
    });

    it('waits for a busy connection no longer than its deadline', async () => {
      const handle = narrow({ connectTimeoutMs: 100 });
      await handle
        .ofOrganization(ours.organizationId)
        .transaction()
        .execute(() => assert.rejects(providers(handle.ofOrganization(theirs.organizationId)), unavailable));
      assert.deepEqual(await providers(handle.ofOrganization(theirs.organizationId)), [theirs.providerId]);
    });
  });
});

type Seeded = Awaited<ReturnType<typeof seedOrganization>>;
