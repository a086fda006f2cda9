import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { after, describe, it } from 'node:test';
import pg from 'pg';
import {
  freePort,
  freshDatabase,
  startPostgres,
  startRedis,
  startRedisCluster,
  startTcpProxy,
} from './index.ts';
import { redisCall } from './redis-client.ts';

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

describe('freshDatabase', () => {
  it('gives an empty database and takes it away again', async () => {
    const database = await freshDatabase();
    const rows = await query(database.url, `select 1 from pg_tables where schemaname = 'public'`);
    assert.deepEqual(rows, []);
    await database.drop();
    await assert.rejects(query(database.url, 'select 1'), { code: '3D000' });
  });

  it('fails with an explanation when there is no server', async () => {
    const before = process.env['TEST_DATABASE_URL'];
    process.env['TEST_DATABASE_URL'] = `postgres://postgres@127.0.0.1:${await freePort()}/postgres`;
    try {
      await assert.rejects(
        freshDatabase(),
        /PostgreSQL does not respond at 127\.0\.0\.1:\d+.*TEST_DATABASE_URL/,
      );
    } finally {
      if (before === undefined) delete process.env['TEST_DATABASE_URL'];
      else process.env['TEST_DATABASE_URL'] = before;
    }
  });
});

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
