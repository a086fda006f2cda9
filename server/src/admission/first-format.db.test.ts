import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type PrivateRedis, startRedis } from '@relay/testbed';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { createSetAside, type SetAside } from '../kit/set-aside.ts';
import { createRedis, type Redis } from '../store/redis/redis.ts';
import { prefixOfShard, usageStreamOf } from '../store/redis/shards.ts';
import { benches } from './both-engines.fixture.ts';

/** As the first format wrote a lease and the clock of its shard. */
const WRITE_LEASE = `redis.call('SET', KEYS[1] .. 'clock', '1768478400000')
redis.call('ZADD', KEYS[1] .. 'expiry', 1, ARGV[1])
redis.call('SET', KEYS[1] .. 'lease:' .. ARGV[1], cmsgpack.pack({
  org = 'an organization', queue = 'lane:key', gateway = '7-gateway', draft = 'draft of ' .. ARGV[1], arrived = 1, state = ARGV[2],
  candidate = 1, slot = 1, postings = { { 'm', 'requests', 'minute', 1, 1, 0, 500 } }, holds = { 'u' }, concurrency = { u = 2 },
  fingerprint = 'e', expires = 1, tried = ARGV[3] == '1' and { 'sent draft of ' .. ARGV[1], 0 } or nil,
}))`;
/** One of its 16 shards. */
const PREFIX = prefixOfShard(9);

let server: PrivateRedis;
let redis: Redis;
let aside: SetAside;

const [, inRedis] = benches(() => redis);
const write = (operation: string, state: string, isTried: boolean) =>
  redis.run(['EVAL', WRITE_LEASE, '1', PREFIX, operation, state, isTried ? '1' : '0']);

async function swept(): Promise<string[][]> {
  assert.ok(inRedis !== undefined);
  const { engine } = inRedis[1](aside);
  await engine.sweep();
  const entries = (await redis.run(['XRANGE', usageStreamOf(PREFIX), '-', '+'])) as [string, string[]][];
  return entries.map(([, fields]) => fields);
}

describe('leases of the first format', () => {
  before(async () => {
    server = await startRedis();
    redis = createRedis({
      url: server.url,
      clock: systemClock,
      log: createLog('silent'),
      commandTimeoutMs: 10_000,
    });
    await redis.whenReady(60_000);
  });
  beforeEach(async () => {
    await redis.run(['FLUSHALL']);
    redis.shards.use(PREFIX);
    aside = createSetAside({ error: () => undefined });
  });
  after(async () => {
    await redis.close();
    await server.remove();
  });

  it('requests in flight of a gateway of the first format get their rows when their leases end', async () => {
    await write('a', 'dispatched', false);
    await write('b', 'tried', true);
    await write('c', 'waiting', false);
    await write('d', 'line', true);
    assert.deepEqual(await swept(), [
      ['x', 'draft of a', 'c', '1'],
      ['x', 'sent draft of b', 'c', '0'],
      ['x', 'sent draft of d', 'c', '0'],
    ]);
    assert.equal(await redis.run(['ZCARD', `${PREFIX}expiry`]), 0);
    assert.deepEqual(await redis.run(['KEYS', `${PREFIX}lease:*`]), []);
    assert.equal((await swept()).length, 3, 'once');
  });

  it('a lease of the first format that cannot be read is set aside, and the others end', async () => {
    await redis.run(['ZADD', `${PREFIX}expiry`, '0', 'bad']);
    await redis.run(['SET', `${PREFIX}lease:bad`, '\u0007']);
    await write('a', 'dispatched', false);
    assert.deepEqual(await swept(), [['x', 'draft of a', 'c', '1']]);
    assert.equal(aside.counts().lease, 1);
    assert.equal(await redis.run(['HGET', `${PREFIX}aside`, 'bad']), '\u0007');
  });
});
