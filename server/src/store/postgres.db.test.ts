import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { freePort, type PrivatePostgres, startPostgres, startTcpProxy, type TcpProxy } from '@relay/testbed';
import { sql } from 'kysely';
import { RelayError } from '../domain/relay-error.ts';
import { silentLog } from './migrated-database.fixture.ts';
import { createDatabase, type DatabaseHandle, type DatabaseOptions } from './postgres.ts';

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
    database = createDatabase({ url: proxy.url, log: silentLog, connectTimeoutMs: 500, ...options });
    return database;
  }

  const one = (handle: DatabaseHandle) =>
    sql<{ one: number }>`select 1 as one`.execute(handle.db).then(({ rows }) => rows[0]?.one);

  it('nobody listening is store_unavailable', async () => {
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
    const handle = open({ poolMax: 1, connectTimeoutMs: 100 });
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
    assert.equal(await one(handle), 1);
    proxy.stall();
    const startedMs = performance.now();
    const lost = one(handle);
    await assert.rejects(lost, unavailable);
    assert.ok(performance.now() - startedMs < 3_000);
    assert.equal(handle.pool.totalCount, 0);
    await proxy.heal();
    assert.equal(await one(handle), 1);
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

  it('a bigint is a number, and one that is too large is an error', async () => {
    const handle = open();
    const read = (value: string) =>
      sql<{ value: unknown }>`select ${value}::bigint as value`
        .execute(handle.db)
        .then(({ rows }) => rows[0]?.value);
    assert.equal(await read('9007199254740991'), Number.MAX_SAFE_INTEGER);
    await assert.rejects(read('9007199254740993'), RangeError);
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
