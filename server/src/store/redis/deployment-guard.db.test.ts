import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import {
  type PrivateRedis,
  type RedisCluster,
  startRedis,
  startRedisCluster,
  startTcpProxy,
  type TcpProxy,
} from '@relay/testbed';
import { RelayError } from '../../domain/relay-error.ts';
import { systemClock } from '../../kit/clock.ts';
import type { DeploymentIdentity } from '../deployment/identity.ts';
import { silentLog } from '../fixtures/migrated-database.fixture.ts';
import { createRedis, type Redis } from './redis.ts';

const UNTIL_MS = 20_000;
const internally = (words: RegExp) => (error: unknown) =>
  error instanceof RelayError && words.test(String(error.detail.internal));
const notOwn = internally(/not known to be this deployment’s/);

describe('the mark of a deployment in Redis', () => {
  let servers: PrivateRedis[];
  let proxy: TcpProxy;
  let opened: Redis[];
  let errors: string[];
  let one: DeploymentIdentity;
  let other: DeploymentIdentity;

  before(async () => {
    servers = [await startRedis(), await startRedis()];
    proxy = await startTcpProxy({ target: servers[0]?.url ?? '' });
  });
  beforeEach(async () => {
    [opened, errors] = [[], []];
    one = { id: randomUUIDv7(), database: 'one:5432/relay' };
    other = { id: randomUUIDv7(), database: 'other:5432/relay' };
  });
  afterEach(async () => {
    await proxy.heal();
    proxy.retarget(servers[0]?.url ?? '');
    for (const server of servers) await (await open(server.url)).run(['FLUSHALL']);
    for (const redis of opened) await redis.close();
  });
  after(async () => {
    await proxy.close();
    for (const server of servers) await server.remove();
  });

  async function open(url: string): Promise<Redis> {
    const log = { ...silentLog, error: (_fields: object, message: string) => void errors.push(message) };
    const redis = createRedis({ url, clock: systemClock, log, commandTimeoutMs: 5_000 });
    opened.push(redis);
    await redis.whenReady(60_000);
    return redis;
  }

  const openFirst = () => open(servers[0]?.url ?? '');

  async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
    for (const endMs = performance.now() + UNTIL_MS; !(await holds()); ) {
      assert.ok(performance.now() < endMs, what);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  it('lets all processes of the one that came first through, and no other', async () => {
    const [first, second, late] = [await openFirst(), await openFirst(), await openFirst()];
    assert.equal(await first.claim(one), null);
    assert.deepEqual(await late.claim(other), one);
    assert.equal(await second.claim({ ...one, database: 'pooler:6432/relay' }), null);
    assert.equal(await first.run(['SET', 'relay:key', '1']), 'OK');
    assert.equal(await second.run(['GET', 'relay:key']), '1');
    await assert.rejects(late.run(['DEL', 'relay:key']), notOwn);
    assert.equal(await first.run(['GET', 'relay:key']), '1');
    assert.equal(late.state().ready, false);
    assert.deepEqual(late.foreignOwner(), one);
  });

  it('decides for one of those who come at the same time', async () => {
    for (let round = 0; round < 20; round += 1) {
      const [first, second] = [await openFirst(), await openFirst()];
      const found = await Promise.all([first.claim(one), second.claim(other)]);
      assert.equal(found.filter((owner) => owner === null).length, 1);
      await (await openFirst()).run(['FLUSHALL']);
    }
  });

  it('belongs to one database of a server', async () => {
    assert.equal(await (await openFirst()).claim(one), null);
    assert.equal(await (await open(`${servers[0]?.url}/1`)).claim(other), null);
  });

  it('is compared before the first command on a new connection, and the Redis before is used again', async () => {
    const [first, foreign] = [await open(proxy.url), await open(servers[1]?.url ?? '')];
    assert.equal(await first.claim(one), null);
    assert.equal(await foreign.claim(other), null);
    proxy.retarget(servers[1]?.url ?? '');
    proxy.cut();
    // What a running process sends all the time, from the moment of the swap on.
    await until(async () => {
      await first.run(['INCR', 'relay:taken']).catch(() => undefined);
      return first.foreignOwner() !== null;
    }, 'the swap was not noticed');
    assert.equal(await foreign.run(['GET', 'relay:taken']), null);
    assert.deepEqual(first.foreignOwner(), other);
    assert.equal(
      errors.filter((message) => message.includes(one.id) && message.includes(other.id)).length,
      1,
    );
    proxy.retarget(servers[0]?.url ?? '');
    proxy.cut();
    await until(() => first.state().ready, 'its own Redis was not used again');
    assert.equal(first.foreignOwner(), null);
  });

  it('goes to whoever asks first after everything was lost', async () => {
    const first = await openFirst();
    await first.claim(one);
    await (await openFirst()).run(['FLUSHALL']);
    assert.equal(await (await openFirst()).claim(other), null);
    await assert.rejects(first.demandOwn(), internally(/belongs to another deployment/));
    await assert.rejects(first.run(['PING']), notOwn);
    await (await openFirst()).run(['FLUSHALL']);
    await until(() => first.state().ready, 'the emptied Redis was not taken');
    await first.demandOwn();
  });

  it('is not read from a Redis that cannot be reached, and nothing passes until it is', async () => {
    await proxy.refuse();
    const log = silentLog;
    const redis = createRedis({ url: proxy.url, clock: systemClock, log, commandTimeoutMs: 5_000 });
    opened.push(redis);
    await assert.rejects(redis.claim(one));
    const foreign = await openFirst();
    await foreign.claim(other);
    await proxy.heal();
    await until(async () => {
      await redis.run(['INCR', 'relay:taken']).catch(() => undefined);
      return redis.foreignOwner() !== null;
    }, 'the mark was never read');
    assert.equal(await foreign.run(['GET', 'relay:taken']), null);
  });
});

describe('the mark of a deployment in a cluster', () => {
  let cluster: RedisCluster;
  let opened: Redis[];

  before(async () => {
    cluster = await startRedisCluster();
    opened = [];
  });
  after(async () => {
    for (const redis of opened) await redis.close();
    await cluster.remove();
  });

  async function open(): Promise<Redis> {
    const url = cluster.urls.join(',');
    const redis = createRedis({ url, clock: systemClock, log: silentLog, commandTimeoutMs: 5_000 });
    opened.push(redis);
    await redis.whenReady(60_000);
    return redis;
  }

  it('is one for all nodes', async () => {
    const one = { id: randomUUIDv7(), database: '' };
    const [first, late] = [await open(), await open()];
    assert.equal(await first.claim(one), null);
    assert.deepEqual(await late.claim({ id: randomUUIDv7(), database: '' }), one);
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      assert.equal(await first.run(['SET', key, '1'], key), 'OK');
      await assert.rejects(late.run(['DEL', key], key), notOwn);
    }
  });
});
