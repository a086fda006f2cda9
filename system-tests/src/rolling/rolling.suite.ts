import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  freePort,
  type PrivatePostgres,
  type PrivateRedis,
  selfHostedEnvironment,
  startPostgres,
  startRedis,
} from '@relay/testbed';
import { IS_LONG } from '@relay/testbed/long-form';
import { type AdminClient, adminClient, createLane } from '../harness/admin-client.ts';
import { reportFigures } from '../harness/figures.ts';
import { leases } from '../harness/live-state.ts';
import { type ProviderProcess, startProviderProcess } from '../harness/provider-process.ts';
import { type RelayProcess, startRelay } from '../harness/relay-process.ts';
import { requestWhenLogged } from '../harness/request-log.ts';
import { type ReverseProxy, startHaproxy } from '../harness/start-proxy.ts';
import { sendTagged } from '../harness/tagged-request.ts';
import { until } from '../harness/until.ts';
import { startLoad } from './load.ts';

// Gateways that are stopped and started again, one after the other, behind a load balancer that only knows /readyz.
// With RELAY_SYSTEM_LONG=1 it happens three times.

const GATEWAYS = 3;
const ROUNDS = IS_LONG ? 3 : 1;
// Three gateways, of which one starts, leave little of two cores to the load.
const PER_SECOND = IS_LONG ? 200 : 120;
const CROWD = 20;
const LAME_DUCK_MS = 5_000;
const READY_MS_MAX = 20_000;

const figures = { requests: 0, failed: 0, streams: 0, waiters: 0 };

describe('a rolling restart', () => {
  let postgres: PrivatePostgres;
  let redis: PrivateRedis;
  let provider: ProviderProcess;
  let balancer: ReverseProxy;
  let admin: AdminClient;
  let env: Record<string, string>;
  let apiToken: string;
  let adminToken: string;
  const ports: number[] = [];
  const gateways: RelayProcess[] = [];

  const start = (port: number, more: Record<string, string> = {}) =>
    startRelay({ port, env: { ...env, ...more } });

  before(async () => {
    [postgres, redis, provider] = await Promise.all([startPostgres(), startRedis(), startProviderProcess()]);
    const setup = selfHostedEnvironment({ DATABASE_URL: postgres.url, REDIS_URL: redis.url });
    ({ apiToken, adminToken } = setup);
    env = { ...setup.env, RELAY_LAME_DUCK_MS: String(LAME_DUCK_MS) };
    for (let index = 0; index < GATEWAYS; index += 1) ports.push(await freePort());
    gateways.push(...(await Promise.all(ports.map((port) => start(port)))));
    admin = adminClient(gateways[0]?.url ?? '', adminToken);
    await createLane(admin, {
      name: 'Open',
      endpoints: [{ baseUrl: provider.baseUrl, upstreamModel: 'sim-multi' }],
    });
    const limited = await createLane(admin, {
      name: 'Limited',
      endpoints: [{ baseUrl: provider.baseUrl, upstreamModel: 'sim-multi' }],
      lane: { default_max_wait_ms: 20_000 },
    });
    await createLane(admin, {
      name: 'Single',
      endpoints: [
        { baseUrl: provider.baseUrl, upstreamModel: 'sim-multi', endpoint: { max_concurrency: 1 } },
      ],
      lane: { default_max_wait_ms: 60_000 },
    });
    await admin.create('/api/relay/limit-policies', {
      scope_type: 'lane',
      scope_id: limited.laneId,
      metric: 'requests',
      period: 'second',
      limit_value: CROWD + 5,
      enabled: true,
    });
    balancer = await startHaproxy(gateways.map(({ url }) => url));
  });
  after(async () => {
    reportFigures(figures);
    await balancer?.stop();
    await Promise.all(gateways.map((each) => each.kill()));
    await provider?.stop();
    await Promise.all([postgres?.remove(), redis?.remove()]);
  });

  it('fails no request, stream or waiter', async (test) => {
    const lanes = { open: 'open', limited: 'limited' };
    const load = startLoad({
      url: balancer.url,
      token: apiToken,
      perSecond: PER_SECOND,
      crowd: CROWD,
      lanes,
    });
    for (let round = 0; round < ROUNDS * GATEWAYS; round += 1) {
      const index = round % GATEWAYS;
      assert.equal(await gateways[index]?.stop(), 0);
      const started = await start(ports[index] ?? 0);
      gateways[index] = started;
      const isReady = async () => (await fetch(`${started.url}/readyz`)).status === 200;
      assert.ok(await until(isReady, READY_MS_MAX), 'a gateway that was started again is ready');
    }
    const { failures, ...counts } = await load.stop();
    Object.assign(figures, counts, { failed: failures.length });
    test.diagnostic(JSON.stringify(figures));
    const tally: Record<string, number> = {};
    for (const failure of failures) tally[failure] = (tally[failure] ?? 0) + 1;
    assert.deepEqual(tally, {});
    assert.ok(counts.streams > 50 && counts.waiters > 50, JSON.stringify(figures));
  });

  it('ends what is still open when the drain time is up: a stream with a frame, one that waits with a 503', async () => {
    const drainMs = 3_000;
    const stopping = await start(await freePort(), {
      RELAY_DRAIN_TIMEOUT_MS: String(drainMs),
      RELAY_LAME_DUCK_MS: '500',
    });
    gateways.push(stopping);
    const { url } = stopping;
    const call = { url, token: apiToken, model: 'single' };
    const endless = { frames: 2_000, frameDelayMs: 50 };
    const stream = sendTagged({ ...call, tag: 'cut-stream', stream: true, maxTokens: 5_000, sim: endless });
    assert.ok(await until(async () => (await provider.openStreams()) > 0, READY_MS_MAX));
    const waits = sendTagged({ ...call, tag: 'cut-waiter' });
    const isWaiting = async () => (await leases(redis.port)).some(({ tag }) => tag === 'cut-waiter');
    assert.ok(await until(isWaiting, READY_MS_MAX), 'the second request waits');
    const toldMs = Date.now();
    const exitCode = await stopping.stop();
    const [cut, waited] = await Promise.all([stream.answer, waits.answer]);
    assert.equal(exitCode, 0);
    // Accepted to wait, it waited for as long as the process could.
    assert.ok(waited.answeredAtMs - toldMs >= drainMs - 50, `${waited.answeredAtMs - toldMs} ms`);
    assert.deepEqual([waited.status, waited.headers['retry-after']], [503, '1']);
    assert.equal((JSON.parse(waited.text) as { error: { code: string } }).error.code, 'draining');
    const frames = cut.text.split('\n\n').filter((frame) => frame !== '');
    assert.equal(cut.status, 200);
    assert.match(frames.at(-1) ?? '', /^data: \{"error":\{.*"code":"draining"/);
    assert.ok(!cut.text.includes('[DONE]'));
    const row = await requestWhenLogged(admin, { clientRequestId: 'cut-stream' });
    assert.deepEqual([row.state, row.error_code, row.usage_source], ['failed', 'draining', 'streamed']);
    // Four bytes of text are a token, and what is begun is one.
    const texts = [...cut.text.matchAll(/"content":"([^"]+)"/g)].map(([, text = '']) => text);
    const tokens = texts.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0);
    const billed = row.output_tokens ?? 0;
    assert.ok(billed > 0 && billed <= tokens, `${billed} tokens for ${tokens} in ${texts.length} frames`);
    const refused = await requestWhenLogged(admin, { clientRequestId: 'cut-waiter' });
    assert.deepEqual(
      [refused.state, refused.error_code, refused.usage_source],
      ['failed', 'draining', 'none'],
    );
  });
});
