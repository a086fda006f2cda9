import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';
import pg from 'pg';
import {
  emptyDatabase,
  freePort,
  freshDatabase,
  startPostgres,
  startRedis,
  startRedisCluster,
  startTcpProxy,
} from './index.ts';
import { findBinary } from './postgres-process.ts';
import { redisCall } from './redis-client.ts';
import { migrate } from './schema-template.ts';

const MIGRATIONS = join(import.meta.dirname, '../../server/src/store/postgres/migrations');

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 1_000,
    query_timeout: 1_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } finally {
    void client.end().catch(() => undefined);
  }
}

const TABLES = `select tablename from pg_tables where schemaname = 'public'`;

describe('freshDatabase', () => {
  it('gives a migrated database without rows and takes it away again', async () => {
    const database = await freshDatabase();
    const migrations = await query(database.url, 'select name from schema_migrations');
    assert.equal(migrations.length, readdirSync(MIGRATIONS).length);
    assert.deepEqual(await query(database.url, 'select 1 from organizations'), []);
    await database.drop();
    await assert.rejects(query(database.url, 'select 1'), { code: '3D000' });
  });

  it('gives an empty one for tests of migrations', async () => {
    const database = await emptyDatabase();
    assert.deepEqual(await query(database.url, TABLES), []);
    await database.drop();
  });

  it('lets several callers make the template of a new server at once', async () => {
    const server = await startPostgres();
    const made = await withServer(server.url, () =>
      Promise.all([freshDatabase(), freshDatabase(), freshDatabase()]),
    );
    const tables = await Promise.all(made.map(({ url }) => query(url, TABLES)));
    assert.ok(tables.every((each) => each.length > 40));
    const names = await query(server.url, `select datname from pg_database where datname like 'relay_%'`);
    assert.equal(names.length, made.length + 1);
    await server.remove();
  });

  it('fails with an explanation when there is no server', async () => {
    const url = `postgres://postgres@127.0.0.1:${await freePort()}/postgres`;
    await withServer(url, () =>
      assert.rejects(freshDatabase(), /PostgreSQL does not respond at 127\.0\.0\.1:\d+.*TEST_DATABASE_URL/),
    );
  });
});

async function withServer<T>(url: string, act: () => Promise<T>): Promise<T> {
  const before = process.env['TEST_DATABASE_URL'];
  process.env['TEST_DATABASE_URL'] = url;
  try {
    return await act();
  } finally {
    if (before === undefined) delete process.env['TEST_DATABASE_URL'];
    else process.env['TEST_DATABASE_URL'] = before;
  }
}

async function schemaOf(url: string): Promise<string> {
  const { stdout } = await promisify(execFile)(findBinary('pg_dump'), ['--no-comments', url], {
    maxBuffer: 2 ** 24,
  });
  // The times of the migrations and the deployment's ID differ, and newer versions of pg_dump write a random key.
  return stdout.replaceAll(/\d{4}-\d\d-\d\d \d\d:[\d:.+]+|^\\\w*restrict .*|^t\t[\da-f-]{36}\t/gm, '');
}

describe('startPostgres', async () => {
  const server = await startPostgres();
  after(() => server.remove());

  it('keeps its data and port over a kill', async () => {
    await query(server.url, 'create table kept (id int)');
    await server.kill();
    await assert.rejects(query(server.url, 'select 1'), { code: 'ECONNREFUSED' });
    await server.start();
    assert.deepEqual(await query(server.url, 'select * from kept'), []);
  });

  it('has the schema that a migration makes, byte for byte, when asked to be migrated', async () => {
    const [copied, database] = [await startPostgres({ migrated: true }), await emptyDatabase()];
    await migrate(database.url);
    assert.equal(await schemaOf(copied.url), await schemaOf(database.url));
    await copied.remove();
    await database.drop();
  });

  it('answers nothing while paused and everything after', async () => {
    server.pause();
    await assert.rejects(query(server.url, 'select 1'), /timeout/);
    server.resume();
    assert.deepEqual(await query(server.url, 'select 1 as one'), [{ one: 1 }]);
  });
});

describe('startRedis', () => {
  it('keeps what was written when it appends, and comes back empty when it does not', async () => {
    for (const appendonly of [true, false]) {
      const server = await startRedis({ appendonly });
      await redisCall(server.port, 'SET', 'key', 'value');
      await server.stop();
      await server.start();
      const reply = await redisCall(server.port, 'GET', 'key');
      assert.equal(reply, appendonly ? 'value' : null);
      await server.remove();
    }
  });

  it('forms a cluster in which every node knows every slot', async () => {
    const cluster = await startRedisCluster({ masters: 3 });
    for (const node of cluster.nodes) {
      assert.match(String(await redisCall(node.port, 'CLUSTER', 'INFO')), /cluster_slots_ok:16384/);
    }
    await cluster.remove();
  });
});

describe('startTcpProxy', async () => {
  const server = await startRedis();
  const proxy = await startTcpProxy({ target: server.url });
  after(async () => {
    await proxy.close();
    await server.remove();
  });

  it('passes bytes, cuts, refuses, stalls and heals', async () => {
    assert.equal(proxy.url, `redis://127.0.0.1:${proxy.port}`);
    assert.equal(await redisCall(proxy.port, 'PING'), 'PONG');

    const open = createConnection({ host: '127.0.0.1', port: proxy.port });
    await once(open, 'connect');
    open.write('PING\r\n');
    await once(open, 'data');
    proxy.cut();
    const [error] = await once(open, 'error');
    assert.equal(error.code, 'ECONNRESET');
    assert.equal(await redisCall(proxy.port, 'PING'), 'PONG');

    await proxy.refuse();
    await assert.rejects(redisCall(proxy.port, 'PING'), { code: 'ECONNREFUSED' });
    await proxy.heal();
    assert.equal(await redisCall(proxy.port, 'PING'), 'PONG');

    proxy.stall();
    const silent = redisCall(proxy.port, 'PING');
    await assert.rejects(silent, /does not answer/);
    await proxy.heal();
    assert.equal(await redisCall(proxy.port, 'PING'), 'PONG');
  });

  it('stalls one direction: what is sent arrives, and its answer does not', async () => {
    proxy.stall('answers');
    let isAnswered = false;
    const sent = redisCall(proxy.port, 'SET', 'sent', 'yes').finally(() => {
      isAnswered = true;
    });
    while ((await redisCall(server.port, 'GET', 'sent')) !== 'yes') assert.equal(isAnswered, false);
    assert.equal(isAnswered, false);
    await proxy.heal();
    assert.equal(await sent, 'OK');
  });

  it('slows both directions, and keeps the order', async () => {
    proxy.slow(80);
    const startMs = performance.now();
    const first = redisCall(proxy.port, 'GET', 'sent');
    assert.equal(await first, 'yes');
    assert.ok(performance.now() - startMs >= 155);
    await proxy.heal();
  });
});

describe('cleaning up', () => {
  const program = `
    import { startPostgres, startRedis } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)};
    const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
    process.stdout.write(JSON.stringify([postgres.port, redis.port]));
    setInterval(() => {}, 1000);`;

  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    it(`leaves no server behind when the process gets ${signal}`, async (t) => {
      if (process.platform !== 'linux') {
        t.diagnostic('this system cannot bind a child to the life of its parent');
        return;
      }
      const parent = spawn(process.execPath, ['--input-type=module', '-e', program], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [chunk] = await once(parent.stdout, 'data');
      const ports = JSON.parse(String(chunk)) as number[];
      parent.kill(signal);
      await once(parent, 'exit');
      for (const port of ports) await untilRefused(port);
    });
  }
});

async function untilRefused(port: number): Promise<void> {
  const endMs = performance.now() + 5_000;
  for (;;) {
    const socket = createConnection({ host: '127.0.0.1', port });
    const outcome = await once(socket, 'connect').then(
      () => 'connected',
      () => 'refused',
    );
    socket.destroy();
    if (outcome === 'refused') return;
    assert.ok(performance.now() < endMs, `port ${port} is still served`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
