import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { freePort, type PrivateRedis, startRedis, startTcpProxy, type TcpProxy } from '@relay/testbed';
import { RelayError } from '../../domain/relay-error.ts';
import { systemClock } from '../../kit/clock.ts';
import { silentLog } from '../fixtures/migrated-database.fixture.ts';
import { createRedis, type Redis, type RedisOptions } from './redis.ts';

const unavailable = (error: unknown) => error instanceof RelayError && error.code === 'store_unavailable';

describe('createRedis', () => {
  let server: PrivateRedis;
  let proxy: TcpProxy;
  let redis: Redis;

  before(async () => {
    server = await startRedis();
    proxy = await startTcpProxy({ target: server.url });
  });
  afterEach(async () => {
    await redis.close();
    await proxy.heal();
  });
  after(async () => {
    await proxy.close();
    await server.remove();
  });

  async function open(options: Partial<RedisOptions> = {}): Promise<Redis> {
    redis = createRedis({
      url: proxy.url,
      clock: systemClock,
      log: silentLog,
      commandTimeoutMs: 100,
      socketTimeoutMs: 400,
      ...options,
    });
    await redis.whenReady(60_000);
    return redis;
  }

  async function elapsedMs(work: Promise<unknown>): Promise<number> {
    const startedMs = performance.now();
    await assert.rejects(work, unavailable);
    return performance.now() - startedMs;
  }

  it('answers commands, and hands an error of the command through as it is', async () => {
    await open();
    assert.equal(await redis.run(['SET', 'key', 'value']), 'OK');
    assert.equal(await redis.run(['GET', 'key']), 'value');
    await assert.rejects(redis.run(['EVALSHA', '0'.repeat(40), '0']), /NOSCRIPT/);
    assert.deepEqual(redis.state(), { ready: true, breaker: 'closed' });
  });

  it('tells when a channel of a slot is heard that could not be subscribed in time', async () => {
    await open();
    server.pause();
    let told = 0;
    const stop = await redis.subscribeShard(
      'channel',
      () => undefined,
      () => {
        told += 1;
      },
    );
    assert.equal(told, 0);
    server.resume();
    while (told === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await stop();
  });

  it('errors of commands do not open the breaker', async () => {
    await open();
    for (let count = 0; count < 20; count += 1) await assert.rejects(redis.run(['NO-SUCH-COMMAND']), /ERR/);
    assert.equal(redis.state().breaker, 'closed');
  });

  it('a frozen Redis fails calls within the deadline, then immediately, and serves again after it thaws', async () => {
    await open({ url: server.url, breaker: { failuresMax: 5, openMs: 10_000 } });
    await redis.run(['PING']);
    server.pause();
    try {
      const times = await Promise.all(Array.from({ length: 5 }, () => elapsedMs(redis.run(['PING']))));
      for (const ms of times) assert.ok(ms >= 90 && ms < 400, `${ms} ms`);
      assert.equal(redis.state().breaker, 'open');
      assert.ok((await elapsedMs(redis.run(['PING']))) < 20);
    } finally {
      server.resume();
    }
    // The handshake of a new connection closes the breaker, long before a probe would.
    await redis.whenReady(60_000);
    assert.equal(await redis.run(['PING']), 'PONG');
    assert.equal(redis.state().breaker, 'closed');
  });

  it('an idle connection to a frozen Redis is noticed without a call', async () => {
    await open({ url: server.url });
    server.pause();
    try {
      await untilState((state) => !state.ready);
    } finally {
      server.resume();
    }
    await redis.whenReady(60_000);
  });

  it('a network that swallows everything is a failure within the deadline', async () => {
    await open();
    proxy.stall();
    const ms = await elapsedMs(redis.run(['PING']));
    assert.ok(ms < 400, `${ms} ms`);
  });

  it('a killed Redis fails immediately, without queueing, and is used again after its restart', async () => {
    await open({ url: server.url });
    await server.kill();
    await untilState((state) => !state.ready);
    assert.ok((await elapsedMs(redis.run(['SET', 'queued', '1']))) < 50);
    await server.start();
    await redis.whenReady(60_000);
    assert.equal(await redis.run(['GET', 'queued']), null);
  });

  it('a broken connection rejects the commands that waited on it', async () => {
    await open({ commandTimeoutMs: 5_000 });
    const blocked = redis.run(['BLPOP', 'nothing', '10']);
    await redis.run(['PING']).catch(() => undefined);
    proxy.cut();
    await assert.rejects(blocked, unavailable);
  });

  it('a refused connection is store_unavailable, and whenReady rejects in time', async () => {
    redis = createRedis({ url: `redis://127.0.0.1:${await freePort()}`, clock: systemClock, log: silentLog });
    await assert.rejects(redis.whenReady(100), unavailable);
    await assert.rejects(redis.run(['PING']), unavailable);
    assert.equal(redis.state().ready, false);
  });

  it('a subscriber hears a channel until it stops, and again after Redis was restarted', async () => {
    await open({ url: server.url });
    const heard: string[] = [];
    const hear = (channel: string) =>
      redis.subscribe(channel, (message) => void heard.push(`${channel} ${message}`));
    const [stop] = await Promise.all([hear('one'), hear('two')]);
    await redis.run(['PUBLISH', 'one', 'a']);
    await redis.run(['PUBLISH', 'two', 'b']);
    await untilState(() => heard.length === 2);
    await stop();
    assert.equal(await redis.run(['PUBLISH', 'one', 'unheard']), 0);
    await server.kill();
    await untilState((state) => !state.ready);
    await server.start();
    await redis.whenReady(60_000);
    const endMs = performance.now() + 5_000;
    while (!heard.includes('two again')) {
      assert.ok(performance.now() < endMs, 'nothing is heard after the restart');
      await redis.run(['PUBLISH', 'two', 'again']);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.deepEqual(heard.slice(0, 2), ['one a', 'two b']);
    assert.equal(await redis.run(['PUBLISH', 'one', 'unheard']), 0);
  });

  it('a subscription requested while Redis is unavailable becomes active after its restart', async () => {
    await server.kill();
    redis = createRedis({ url: server.url, clock: systemClock, log: silentLog });
    let heard = '';
    await redis.subscribe('one', (message) => {
      heard = message;
    });
    await server.start();
    await redis.whenReady(60_000);
    const endMs = performance.now() + 5_000;
    while (heard === '') {
      assert.ok(performance.now() < endMs, 'nothing is heard');
      await redis.run(['PUBLISH', 'one', 'here']);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.equal(heard, 'here');
  });

  async function untilState(holds: (state: ReturnType<Redis['state']>) => boolean): Promise<void> {
    const endMs = performance.now() + 5_000;
    while (!holds(redis.state())) {
      assert.ok(performance.now() < endMs, 'the state does not change');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
});
