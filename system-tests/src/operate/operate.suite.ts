import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  freePort,
  type PrivatePostgres,
  type PrivateRedis,
  selfHostedEnvironment,
  startPostgres,
  startRedis,
  watchScheduler,
} from '@relay/testbed';
import { IS_LONG } from '@relay/testbed/long-form';
import { adminClient, createLane } from '../harness/admin-client.ts';
import { reportFigures } from '../harness/figures.ts';
import { type ProviderProcess, startProviderProcess } from '../harness/provider-process.ts';
import { type RelayProcess, startRelay } from '../harness/relay-process.ts';
import { runProgram } from '../harness/run-program.ts';
import { type ReverseProxy, startHaproxy, startNginx } from '../harness/start-proxy.ts';
import { until } from '../harness/until.ts';
import { startLoad } from '../rolling/load.ts';
import { startEchoServer } from './echo-server.ts';
import { readFirstFrames } from './first-frames.ts';
import { type StampingUpstream, startStampingUpstream } from './stamping-upstream.ts';
import { terminalCauses, terminalCauseTests } from './terminal-causes.ts';

// The files of deploy/ that need no cluster and no image, each with the program that it is for. With RELAY_SYSTEM_LONG=1 there
// are more streams, and the gateways restart under more load.

const DEPLOY = join(import.meta.dirname, '../../../deploy');
const STREAMS = IS_LONG ? 500 : 100;
const STREAMS_BESIDE = 5;
const FIRST_FRAME_MS_MAX = 50;
const LOAD = IS_LONG ? { perSecond: 150, crowd: 20 } : { perSecond: 40, crowd: 5 };
const READY_MS_MAX = 20_000;
const BODY_BYTES_MAX = 20 * 1024 * 1024;
const EXPOSURE_MAX = 2;

const figures = { failed_requests: 0, late_first_frames: 0, alerts_tested: 0, terminal_causes: 0 };

let postgres: PrivatePostgres;
let redis: PrivateRedis;
let provider: ProviderProcess;
let stamping: StampingUpstream;
let apiToken: string;
let adminToken: string;
let env: Record<string, string>;
const ports: number[] = [];
const gateways: RelayProcess[] = [];

before(async () => {
  [postgres, redis, provider, stamping] = await Promise.all([
    startPostgres(),
    startRedis(),
    startProviderProcess(),
    startStampingUpstream(),
  ]);
  const setup = selfHostedEnvironment({ DATABASE_URL: postgres.url, REDIS_URL: redis.url });
  ({ apiToken, adminToken } = setup);
  env = { ...setup.env, RELAY_LAME_DUCK_MS: '5000' };
  ports.push(await freePort(), await freePort());
  gateways.push(...(await Promise.all(ports.map((port) => startRelay({ port, env })))));
  const admin = adminClient(gateways[0]?.url ?? '', setup.adminToken);
  for (const [name, baseUrl] of [
    ['Stamped', stamping.baseUrl],
    ['Open', provider.baseUrl],
    ['Limited', provider.baseUrl],
  ] as const) {
    const { laneId } = await createLane(admin, {
      name,
      endpoints: [{ baseUrl, upstreamModel: 'sim-multi' }],
      lane: { default_max_wait_ms: 20_000 },
    });
    if (name !== 'Limited') continue;
    await admin.create('/api/relay/limit-policies', {
      scope_type: 'lane',
      scope_id: laneId,
      metric: 'requests',
      period: 'second',
      limit_value: LOAD.crowd + 5,
      enabled: true,
    });
  }
});

after(async () => {
  reportFigures(figures);
  await Promise.all(gateways.map((each) => each.kill()));
  await Promise.all([provider?.stop(), stamping?.close()]);
  await Promise.all([postgres?.remove(), redis?.remove()]);
});

const gatewayUrls = () => gateways.map(({ url }) => url);

for (const [name, start] of [
  ['nginx', startNginx],
  ['HAProxy', startHaproxy],
] as const) {
  describe(`behind ${name}`, () => {
    let proxy: ReverseProxy;

    before(async () => {
      proxy = await start(gatewayUrls());
    });
    after(() => proxy?.stop());

    it(`the first frame of ${STREAMS} streams arrives within ${FIRST_FRAME_MS_MAX} ms`, async (test) => {
      const asked = { url: proxy.url, token: apiToken, model: 'stamped' };
      // The first requests of a process compile its code.
      await readFirstFrames(asked, STREAMS_BESIDE * 2, STREAMS_BESIDE);
      using watch = watchScheduler(gateways);
      const { delaysMs, problems } = await readFirstFrames(asked, STREAMS, STREAMS_BESIDE);
      test.diagnostic(summaryOf(delaysMs));
      figures.late_first_frames += delaysMs.filter((ms) => ms > FIRST_FRAME_MS_MAX).length;
      assert.deepEqual([delaysMs.length, problems], [STREAMS, []]);
      watch.within(FIRST_FRAME_MS_MAX, Math.max(...delaysMs), 'the last first frame');
    });

    it('a body over the limit gets Relay’s own error', async () => {
      const answer = await fetch(`${proxy.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'open', messages: [], more: 'x'.repeat(BODY_BYTES_MAX) }),
      });
      const { error } = (await answer.json()) as { error: { code: string } };
      assert.deepEqual([answer.status, error.code], [413, 'body_too_large']);
    });

    it('metrics without a token are not available, because the proxy says for whom it asks', async () => {
      const direct = await fetch(`${gateways[0]?.url}/metrics`);
      const proxied = await fetch(`${proxy.url}/metrics`);
      assert.deepEqual([direct.status, proxied.status], [200, 404]);
    });

    it('with separate roles, inference goes to gateways and everything else to the platform', async () => {
      const [gateway, platform] = await Promise.all(
        ['inference', 'platform'].map((role) => startRelay({ env, role })),
      );
      assert.ok(gateway !== undefined && platform !== undefined);
      const front = await start([gateway.url], [platform.url]);
      const status = async (path: string, token?: string) => {
        const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
        return (await fetch(front.url + path, { headers: authorization })).status;
      };
      const seen = {
        models: await status('/v1/models', apiToken),
        management: await status('/api/relay/providers', adminToken),
        console: await status('/console/'),
        documents: await status('/docs/errors/draining'),
        description: await status('/openapi.json'),
      };
      const { role } = (await (await fetch(`${front.url}/healthz`)).json()) as { role: string };
      // From source there may be no console.
      const { status: console } = await fetch(`${platform.url}/console/`);
      const all = { models: 200, management: 200, console, documents: 200, description: 200 };
      await front.stop();
      await Promise.all([gateway.stop(), platform.stop()]);
      assert.deepEqual([seen, role], [all, 'platform']);
    });

    it('an address that the client claims is replaced by its own', async () => {
      const echo = await startEchoServer();
      const front = await start([echo.url]);
      const claimed = { 'x-forwarded-for': '203.0.113.9, 203.0.113.10', 'x-forwarded-proto': 'https' };
      const seen = (await (await fetch(front.url, { headers: claimed })).json()) as Record<string, string>;
      await Promise.all([front.stop(), echo.close()]);
      assert.deepEqual([seen['x-forwarded-for'], seen['x-forwarded-proto']], ['127.0.0.1', 'http']);
    });
  });
}

describe('a rolling restart behind HAProxy', () => {
  it('fails no request', async (test) => {
    const proxy = await startHaproxy(gatewayUrls());
    const lanes = { open: 'open', limited: 'limited' };
    const load = startLoad({ url: proxy.url, token: apiToken, ...LOAD, lanes });
    for (const [index, port] of ports.entries()) {
      assert.equal(await gateways[index]?.stop(), 0);
      const started = await startRelay({ port, env });
      gateways[index] = started;
      const isReady = async () => (await fetch(`${started.url}/readyz`)).status === 200;
      assert.ok(await until(isReady, READY_MS_MAX), 'a gateway that was started again is ready');
    }
    const { failures, ...counts } = await load.stop();
    await proxy.stop();
    figures.failed_requests = failures.length;
    test.diagnostic(JSON.stringify(counts));
    assert.deepEqual([...new Set(failures)], []);
    assert.ok(counts.requests > 200 && counts.streams > 20, JSON.stringify(counts));
  });
});

describe('Prometheus', () => {
  const rules = readFileSync(join(DEPLOY, 'prometheus/rules.yaml'), 'utf8');

  it('promtool: every alert fires in its test, and all are silent on a healthy deployment', async () => {
    const file = join(DEPLOY, 'prometheus/rules.test.yaml');
    const { code, output } = await runProgram('promtool', ['test', 'rules', file]);
    assert.equal(code, 0, output);
    const names = (text: string, pattern: RegExp) =>
      [...text.matchAll(pattern)].map(([, name]) => name).sort();
    const alerts = names(rules, /^ +- alert: (\w+)$/gm);
    // Alerts that a test expects to fire; those that are expected to be silent are written on one line.
    assert.deepEqual(names(readFileSync(file, 'utf8'), /^ +- alertname: (\w+)$/gm), alerts);
    figures.alerts_tested = alerts.length;
  });

  it('promtool: each way in which most requests can end fires exactly the alerts that its row names', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'relay-causes-'));
    const file = join(directory, 'causes.json');
    writeFileSync(file, terminalCauseTests(join(DEPLOY, 'prometheus/rules.yaml')));
    const { code, output } = await runProgram('promtool', ['test', 'rules', file]);
    rmSync(directory, { recursive: true });
    assert.equal(code, 0, output);
    figures.terminal_causes = terminalCauses().length;
  });

  it('promtool accepts the scrape configuration', async () => {
    const file = join(DEPLOY, 'prometheus/prometheus.yaml');
    const { code, output } = await runProgram('promtool', ['check', 'config', '--syntax-only', file]);
    assert.equal(code, 0, output);
  });

  it('promtool accepts every expression of the dashboard', async () => {
    const text = readFileSync(join(DEPLOY, 'grafana/relay.json'), 'utf8');
    const { panels } = JSON.parse(text) as { panels: { targets?: { expr: string }[] }[] };
    const rules = panels
      .flatMap(({ targets }) => targets ?? [])
      .map(({ expr }, index) => ({ record: `panel:${index}`, expr: withoutVariables(expr) }));
    const directory = mkdtempSync(join(tmpdir(), 'relay-dashboard-'));
    const file = join(directory, 'rules.json');
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    const { code, output } = await runProgram('promtool', ['check', 'rules', file]);
    rmSync(directory, { recursive: true });
    assert.equal(code, 0, output);
    assert.ok(rules.length > 0);
  });

  it('rules and dashboard use metrics of the process that a gateway has', async () => {
    const text = rules + readFileSync(join(DEPLOY, 'grafana/relay.json'), 'utf8');
    const used = new Set([...text.matchAll(/\b(?:nodejs|process)_\w+/g)].map(([name]) => name));
    const metrics = await (await fetch(`${gateways[0]?.url}/metrics`)).text();
    const unknown = [...used].filter((name) => !new RegExp(`^${name}[ {]`, 'm').test(metrics));
    assert.deepEqual(unknown, []);
    assert.ok(used.size > 2);
  });
});

describe('the systemd unit', () => {
  it('is valid, and exposes little', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'relay-unit-'));
    const unit = join(directory, 'relay.service');
    // The command must exist on the machine that verifies the unit.
    const text = readFileSync(join(DEPLOY, 'systemd/relay.service'), 'utf8');
    writeFileSync(unit, text.replace('ExecStart=/usr/bin/relay ', `ExecStart=${process.execPath} `));
    const verified = await runProgram('systemd-analyze', ['verify', '--man=no', unit]);
    const args = ['security', '--offline=true', `--threshold=${EXPOSURE_MAX * 10}`, unit];
    const judged = await runProgram('systemd-analyze', args);
    rmSync(directory, { recursive: true });
    assert.deepEqual(verified, { code: 0, output: '' });
    assert.equal(judged.code, 0, judged.output);
  });
});

function summaryOf(delaysMs: readonly number[]): string {
  const sorted = [...delaysMs].sort((a, b) => a - b);
  return `median ${sorted[Math.floor(sorted.length / 2)]?.toFixed(1)} ms, longest ${sorted.at(-1)?.toFixed(1)} ms`;
}

/** What Grafana puts in for its variables. */
function withoutVariables(expr: string): string {
  return expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*');
}
