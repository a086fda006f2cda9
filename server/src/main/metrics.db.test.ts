import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { freshDatabase, startRedis } from '@relay/testbed';
import { readEnvironment } from './environment.ts';
import { metricTable } from './metric-table.ts';
import type { RoleName } from './roles.ts';
import { type RunningServer, serve } from './serve.ts';

const secret = () => randomBytes(32).toString('base64url');

describe('metrics of a running process', () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  let redis: Awaited<ReturnType<typeof startRedis>>;
  let spool: string;
  const [apiToken, adminToken, metricsToken] = [secret(), secret(), secret()];
  const masterKey = randomBytes(32).toString('base64');

  before(async () => {
    [database, redis] = await Promise.all([freshDatabase(), startRedis()]);
    spool = await mkdtemp(join(tmpdir(), 'relay-metrics-'));
  });
  after(async () => {
    await redis.remove();
    await database.drop();
    await rm(spool, { recursive: true, force: true });
  });

  async function running(role: RoleName, use: (server: RunningServer) => Promise<void>): Promise<void> {
    const environment = readEnvironment({
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      RELAY_HTTP_ADDR: '127.0.0.1:0',
      RELAY_API_TOKEN: apiToken,
      RELAY_ADMIN_TOKEN: adminToken,
      RELAY_METRICS_TOKEN: role === 'all' ? metricsToken : '',
      RELAY_MASTER_KEY: masterKey,
      RELAY_SPOOL_DIR: spool,
      RELAY_LOG_LEVEL: 'silent',
      RELAY_LAME_DUCK_MS: '0',
    });
    const server = await serve(environment, role);
    try {
      await use(server);
    } finally {
      await server.stop();
    }
  }

  function samplesOf(text: string): Map<string, number> {
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(
      lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
    );
  }

  it('are all there, tell what happened, and hold no id or secret', async () => {
    await running('all', async ({ address }) => {
      const asScraper = { headers: { authorization: `Bearer ${metricsToken}` } };
      assert.equal((await fetch(`${address}/metrics`)).status, 401);
      const models = await fetch(`${address}/v1/models`, {
        headers: { authorization: `Bearer ${apiToken}` },
      });
      assert.equal(models.status, 200);
      await models.text();
      const body = JSON.stringify({ model: 'no-such-model', messages: [] });
      const headers = { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' };
      const refused = await fetch(`${address}/v1/chat/completions`, { method: 'POST', headers, body });
      await refused.text();

      const text = await (await fetch(`${address}/metrics`, asScraper)).text();
      for (const name of Object.keys(metricTable)) assert.match(text, new RegExp(`^# TYPE ${name} `, 'm'));
      const samples = samplesOf(text);
      assert.equal(samples.get('relay_http_requests_total{plane="inference",status="2xx"}'), 1);
      assert.equal(samples.get('relay_http_requests_total{plane="inference",status="4xx"}'), 1);
      assert.equal(samples.get('relay_http_requests_total{plane="operations",status="4xx"}'), 1);
      assert.equal(samples.get('relay_inference_requests_total{operation="chat",state="failed"}'), 1);
      assert.equal(samples.get('relay_store_up{store="postgresql"}'), 1);
      assert.equal(samples.get('relay_store_up{store="redis"}'), 1);
      assert.equal(samples.get('relay_redis_breaker{state="closed"}'), 1);
      assert.equal(samples.get('relay_wait_seconds_count'), 1);
      assert.ok(samples.has('relay_ledger_rows_total'));
      assert.doesNotMatch(text, /[0-9a-f]{8}-[0-9a-f]{4}-/, 'an id');
      for (const token of [apiToken, adminToken, metricsToken]) assert.ok(!text.includes(token));

      const health = (await (await fetch(`${address}/healthz`)).json()) as { metering: unknown };
      assert.deepEqual(health.metering, { drift: 0, checked: 0, unsettled: 0, compared_at: null });
      assert.equal((await fetch(`${address}/metrics`, { method: 'POST' })).status, 405);
    });
  });

  it('without a token answer this machine, and of the ledger only a worker tells', async () => {
    await running('inference', async ({ address }) => {
      const answer = await fetch(`${address}/metrics`);
      assert.equal(answer.status, 200);
      const samples = samplesOf(await answer.text());
      assert.ok(!samples.has('relay_ledger_rows_total'));
      assert.equal(samples.get('relay_usage_unsent_records'), 0);
      const health = (await (await fetch(`${address}/healthz`)).json()) as object;
      assert.ok(!('metering' in health));
    });
  });
});
