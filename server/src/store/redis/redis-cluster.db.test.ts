import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { type PrivateRedis, type RedisCluster, startRedis, startRedisCluster } from '@relay/testbed';
import { RelayError } from '../../domain/relay-error.ts';
import { systemClock } from '../../kit/clock.ts';
import { silentLog } from '../fixtures/migrated-database.fixture.ts';
import { createRedis, type Redis, type RedisOptions } from './redis.ts';
import { slotOf } from './redis-slot.ts';

const unavailable = (error: unknown) => error instanceof RelayError && error.code === 'store_unavailable';
const SCRIPT = "return redis.call('GET', KEYS[1] .. 'value')";

describe('createRedis on a cluster', () => {
  let cluster: RedisCluster;
  let redis: Redis;
  const direct = new Map<PrivateRedis, Redis>();

  before(async () => {
    cluster = await startRedisCluster();
    for (const node of cluster.nodes) await openDirect(node);
  });
  afterEach(async () => {
    await redis.close();
  });
  after(async () => {
    for (const connection of direct.values()) await connection.close();
    await cluster.remove();
  });

  /** A connection to one node. */
  async function openDirect(node: PrivateRedis): Promise<Redis> {
    const connection = createRedis({ url: node.url, clock: systemClock, log: silentLog });
    direct.set(node, connection);
    await connection.whenReady(60_000);
    return connection;
  }

  async function open(options: Partial<RedisOptions> = {}): Promise<Redis> {
    const url = cluster.urls.join(',');
    redis = createRedis({ url, clock: systemClock, log: silentLog, commandTimeoutMs: 200, ...options });
    await redis.whenReady(60_000);
    return redis;
  }

  /** On this node only, whichever node owns the slot. */
  async function on(node: PrivateRedis | undefined, ...command: string[]): Promise<unknown> {
    assert.ok(node);
    return direct.get(node)?.run(command);
  }

  /** A key that the node owns, by the even slot distribution the cluster starts with. */
  function keyOn(index: number, from = 0): string {
    for (let count = from; ; count += 1) {
      const key = `relay:{k${count}}:`;
      if (Math.floor((slotOf(key) * cluster.nodes.length) / 16_384) === index) return key;
    }
  }

  async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
    const endMs = performance.now() + 20_000;
    while (!(await holds().catch(() => false))) {
      assert.ok(performance.now() < endMs, what);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  function serves(key: string): Promise<boolean> {
    return redis.run(['SET', key, '1'], key).then((reply) => reply === 'OK');
  }

  it('a command goes to the node that owns the slot of its key, and one without a key to any node', async () => {
    // One node, named twice, is enough to find the others.
    const [seed] = cluster.urls;
    await open({ url: `${seed},${seed}` });
    for (let index = 0; index < 3; index += 1) {
      const key = keyOn(index);
      await redis.run(['SET', key, String(index)], key);
      assert.equal(await on(cluster.nodes[index], 'GET', key), String(index));
    }
    assert.equal(await redis.run(['PING']), 'PONG');
    assert.deepEqual(redis.state(), { ready: true, breaker: 'closed' });
  });

  it('a moved slot is followed immediately and remembered', async () => {
    await open();
    const key = keyOn(0, 1_000);
    const slot = String(slotOf(key));
    const target = await on(cluster.nodes[1], 'CLUSTER', 'MYID');
    for (const node of [cluster.nodes[1], cluster.nodes[0], cluster.nodes[2]])
      await on(node, 'CLUSTER', 'SETSLOT', slot, 'NODE', String(target));
    assert.equal(await redis.run(['SET', key, 'moved'], key), 'OK');
    assert.equal(await on(cluster.nodes[1], 'GET', key), 'moved');
    await on(cluster.nodes[0], 'CONFIG', 'RESETSTAT');
    await redis.run(['GET', key], key);
    assert.doesNotMatch(String(await on(cluster.nodes[0], 'INFO', 'errorstats')), /MOVED/);
  });

  it('while a slot moves, no script decides on a part of its keys, and plain commands find theirs', async () => {
    await open();
    const key = keyOn(0, 2_000);
    const slot = String(slotOf(key));
    const [source, target] = cluster.nodes;
    assert.ok(source && target);
    await redis.run(['SET', `${key}value`, 'whole'], key);
    const run = () => redis.run(['EVAL', SCRIPT, '1', key], key);
    assert.equal(await run(), 'whole');
    const [sourceId, targetId] = [await on(source, 'CLUSTER', 'MYID'), await on(target, 'CLUSTER', 'MYID')];
    await on(target, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(sourceId));
    await on(source, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(targetId));
    await assert.rejects(run(), unavailable);
    assert.equal(await redis.run(['GET', `${key}value`], key), 'whole');
    await on(source, 'MIGRATE', '127.0.0.1', String(target.port), `${key}value`, '0', '1000');
    await assert.rejects(run(), unavailable);
    assert.equal(await redis.run(['GET', `${key}value`], key), 'whole');
    for (const node of [target, source]) await on(node, 'CLUSTER', 'SETSLOT', slot, 'NODE', String(targetId));
    assert.equal(await run(), 'whole');
    assert.equal(await on(target, 'GET', `${key}value`), 'whole');
  });

  it('a frozen node fails its own slots within the deadline, then immediately, and no others', async () => {
    await open({ breaker: { failuresMax: 5, openMs: 10_000 } });
    const [frozen, alive] = [keyOn(0), keyOn(1)];
    cluster.nodes[0]?.pause();
    try {
      const startedMs = performance.now();
      await Promise.all(
        Array.from({ length: 5 }, () => assert.rejects(redis.run(['GET', frozen], frozen), unavailable)),
      );
      const frozenMs = performance.now() - startedMs;
      assert.ok(frozenMs >= 190 && frozenMs < 600, `${frozenMs} ms`);
      assert.equal(redis.state().breaker, 'open');
      const againMs = performance.now();
      await assert.rejects(redis.run(['GET', frozen], frozen), unavailable);
      assert.ok(performance.now() - againMs < 50);
      assert.equal(await serves(alive), true);
    } finally {
      cluster.nodes[0]?.resume();
    }
    await until(() => serves(frozen), 'the thawed node is not used again');
    await until(async () => redis.state().ready, 'the cluster is not ready again');
  });

  it('a killed node fails its slots immediately, and is used again after its restart', async () => {
    await open();
    const [lost, alive] = [keyOn(2), keyOn(1)];
    await redis.run(['SET', lost, 'before'], lost);
    await cluster.nodes[2]?.kill();
    await until(async () => !redis.state().ready, 'the lost node is not noticed');
    const startedMs = performance.now();
    await assert.rejects(redis.run(['GET', lost], lost), unavailable);
    assert.ok(performance.now() - startedMs < 50);
    assert.equal(await serves(alive), true);
    await cluster.nodes[2]?.start();
    await until(() => serves(lost), 'the node is not used again');
    await until(() => serves(alive), 'the cluster is not whole again');
    await redis.whenReady(60_000);
  });

  it('messages published at any node arrive, and again after the connection was lost', async () => {
    await open();
    const heard: string[] = [];
    const stop = await redis.subscribe('relay:{s1}:wake', (message) => heard.push(message));
    const publish = (index: number, message: string) =>
      on(cluster.nodes[index], 'PUBLISH', 'relay:{s1}:wake', message);
    for (let index = 0; index < 3; index += 1) await publish(index, `from ${index}`);
    await until(async () => heard.length === 3, `heard ${heard}`);
    for (const node of cluster.nodes) await on(node, 'CLIENT', 'KILL', 'TYPE', 'pubsub');
    await until(async () => {
      await publish(0, 'again');
      return heard.includes('again');
    }, 'nothing is heard after the connection was lost');
    await stop();
    const count = heard.length;
    await publish(1, 'unheard');
    await redis.run(['PING']);
    assert.equal(heard.slice(count).includes('unheard'), false);
  });

  it('a channel of a slot is heard at its node, again after the connection was lost, and where the slot moves', async () => {
    await open();
    const channel = keyOn(0, 3_000);
    const heard: string[] = [];
    let restored = 0;
    const stop = await redis.subscribeShard(
      channel,
      (message) => heard.push(message),
      () => {
        restored += 1;
      },
    );
    const publish = (message: string) => redis.run(['SPUBLISH', channel, message], channel);
    assert.equal(await publish('one'), 1);
    await until(async () => heard.includes('one'), 'the message is not heard');
    await on(cluster.nodes[0], 'CLIENT', 'KILL', 'TYPE', 'pubsub');
    await until(async () => restored > 0 && (await publish('again')) === 1, 'the channel is not heard again');
    const restoredBefore = restored;
    const slot = String(slotOf(channel));
    const target = await on(cluster.nodes[1], 'CLUSTER', 'MYID');
    for (const node of [cluster.nodes[1], cluster.nodes[0], cluster.nodes[2]])
      await on(node, 'CLUSTER', 'SETSLOT', slot, 'NODE', String(target));
    await until(async () => (await publish('moved')) === 1, 'the channel does not follow its slot');
    await until(async () => heard.includes('moved') && restored > restoredBefore, `heard ${heard}`);
    await stop();
    await until(async () => (await publish('unheard')) === 0, 'the channel is heard after the stop');
  });

  it('a replica that takes over for its master is found', async () => {
    const replica = await startRedis({ cluster: true });
    const connection = await openDirect(replica);
    try {
      const [master] = cluster.nodes;
      assert.ok(master);
      const masterId = String(await on(master, 'CLUSTER', 'MYID'));
      await connection.run(['CLUSTER', 'MEET', '127.0.0.1', String(master.port)]);
      await until(async () => {
        await connection.run(['CLUSTER', 'REPLICATE', masterId]);
        return true;
      }, 'the replica does not join');
      await until(
        async () => String(await connection.run(['INFO', 'replication'])).includes('master_link_status:up'),
        'the replica does not follow',
      );
      await open();
      const key = keyOn(0);
      assert.equal(await serves(key), true);
      await master.kill();
      await assert.rejects(redis.run(['GET', key], key), unavailable);
      await until(() => serves(key), 'the replica is not found');
      assert.equal(await connection.run(['GET', key]), '1');
      await until(async () => redis.state().ready, 'the dead node is still counted on');
    } finally {
      await connection.close();
      direct.delete(replica);
      await replica.remove();
    }
  });

  it('a cluster without a reachable node is store_unavailable', async () => {
    redis = createRedis({
      url: 'redis://127.0.0.1:1,redis://127.0.0.1:2',
      clock: systemClock,
      log: silentLog,
    });
    await assert.rejects(redis.whenReady(100), unavailable);
    await assert.rejects(redis.run(['GET', 'key'], 'key'), unavailable);
    await assert.rejects(redis.run(['PING']), unavailable);
    assert.equal(redis.state().ready, false);
  });
});
