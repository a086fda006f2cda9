import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Live, RoutingExplanation } from '@relay/contract';
import { watchScheduler } from '@relay/testbed';
import { adminClient } from '../harness/admin-client.ts';
import { reportFigures } from '../harness/figures.ts';
import { afterMs, until } from '../harness/until.ts';
import { type Attempt, attemptsAt, backAfter, takenOut } from './attempts.ts';
import { LANE, type Site, SOLE_LANE, startSite } from './site.ts';
import { failuresOf, sendRequest, startSteadyRequests } from './steady-requests.ts';

// A provider dies under load and comes back: what clients see, when every gateway knows, and what operators are told.

const STEADY_MS = 1_500;
const DEAD_MS = 5_000;
const TAKEN_OUT_MS_MAX = 2_000;
const BACK_MS_MAX = 10_000;

let site: Site;
const figures = {
  client_failures: 0,
  taken_out_ms: 0,
  back_ms: 0,
  requests: 0,
  committed_streams_cut: 0,
  deaths: {} as Record<string, unknown>,
};

before(async () => {
  site = await startSite();
});
after(async () => {
  reportFigures(figures);
  await site.stop();
});

const urls = () => site.deployment.processes.slice(0, 3).map(({ url }) => url);
const token = () => site.deployment.apiToken;

interface Death {
  readonly name: string;
  readonly reason: RegExp;
  /** Added to the time in which it is taken out: how long the first request takes to fail. */
  readonly foundOutMs: number;
  readonly die: () => Promise<void>;
  readonly revive: () => Promise<void>;
}

const fault = (name: string, reason: RegExp, failing: object, foundOutMs = 0): Death => ({
  name,
  reason,
  foundOutMs,
  die: () => site.first().failWith(failing),
  revive: () => site.first().failWith(null),
});

const DEATHS: readonly Death[] = [
  {
    name: 'refuses connections',
    reason: /^connection refused$/,
    foundOutMs: 0,
    die: () => site.kill(),
    revive: () => site.revive(),
  },
  fault('hangs', /^no response within 1 s$/, { stallBeforeHeaders: true }, 1_000),
  fault('answers 500', /^status 500$/, { status: 500 }),
  fault('refuses the credential', /^credential rejected \(401\)$/, { status: 401 }),
];

describe('a provider that dies under fifty requests a second', () => {
  for (const death of DEATHS) it(`and ${death.name} costs no client anything`, () => survive(death));
});

async function survive({ name, reason, foundOutMs, die, revive }: Death): Promise<void> {
  using watch = watchScheduler([...site.deployment.processes, site.first()]);
  const load = startSteadyRequests(urls(), { token: token(), model: LANE });
  await afterMs(STEADY_MS);
  const diedMs = Date.now();
  await die();
  await afterMs(DEAD_MS);
  await assertToldEverywhere(reason);
  const endMs = Date.now();
  await revive();
  const revivedMs = Date.now();
  const isBack = async () => {
    const health = await Promise.all(site.admins.map((admin) => site.endpoint(admin, site.endpointId)));
    return health.every((endpoint) => endpoint.health !== 'down');
  };
  assert.ok(await until(isBack, BACK_MS_MAX, 100), `${name}: it is not back`);
  await afterMs(STEADY_MS);
  const sent = await load.stop();
  const { failed, cut } = failuresOf(sent);
  const attempts: Attempt[] = await attemptsAt(site.deployment.postgres.url, site.endpointId, sent);
  const out = takenOut(attempts, { diedMs, endMs, gateways: 3 });
  const back = backAfter(attempts, { revivedMs, gateways: 3 });
  figures.requests += sent.length;
  figures.client_failures += failed.length;
  figures.committed_streams_cut += cut;
  figures.taken_out_ms = Math.max(figures.taken_out_ms, ...out.ms.map((ms) => ms - foundOutMs));
  figures.back_ms = Math.max(figures.back_ms, ...back);
  figures.deaths[name] = { taken_out_ms: out.ms, probes: out.probes, back_ms: back, requests: sent.length };
  assert.deepEqual(
    failed.map(({ status, text }) => `${status} ${text.slice(0, 200)}`),
    [],
  );
  watch.within(TAKEN_OUT_MS_MAX, Math.max(...out.ms) - foundOutMs, `taken out after ${out.ms.join()} ms`);
  watch.inTime(out.probes >= 1 && out.probes <= 4, `${out.probes} probes in ${DEAD_MS} ms`);
  watch.within(BACK_MS_MAX, Math.max(...back), `back after ${back.join()} ms`);
}

/** The same state, reason and beginning on every gateway, and on a process that has served nothing. */
async function assertToldEverywhere(reason: RegExp): Promise<void> {
  const seen = await Promise.all(site.admins.map((admin) => site.endpoint(admin, site.endpointId)));
  for (const { health, health_detail } of seen) {
    assert.equal(health, 'down');
    assert.match(health_detail.reason ?? '', reason);
    assert.equal(health_detail.since, seen[0]?.health_detail.since);
    assert.match(health_detail.last_error?.message ?? '', reason);
  }
  for (const admin of site.admins)
    assert.equal((await site.endpoint(admin, site.uncalledId)).health, 'unknown');
}

describe('what operators are told', () => {
  it('is the same in Live, in explanations, in metrics, in another role and after a restart', async () => {
    await site.first().failWith({ status: 500 });
    const [url = ''] = urls();
    const [admin] = site.admins;
    assert.ok(admin);
    const isDown = async () => {
      await sendRequest(url, { token: token(), model: LANE });
      return (await site.endpoint(admin, site.endpointId)).health === 'down';
    };
    assert.ok(await until(isDown, 5_000, 50));
    const down = await site.endpoint(admin, site.endpointId);

    const live = (await admin.call('GET', '/api/relay/live')).body as Live;
    const shown = live.endpoints.find(({ endpoint_id }) => endpoint_id === site.endpointId);
    assert.equal(shown?.health, 'down', 'without traffic');

    const body = { model: LANE, messages: [{ role: 'user', content: 'hello' }] };
    const answer = await admin.call('POST', '/api/relay/routing/explain', { operation: 'chat', body });
    const [skipped, selected] = (answer.body as RoutingExplanation).candidates;
    assert.equal(skipped?.verdict, 'unhealthy');
    assert.match(
      skipped?.reason ?? '',
      /^skipped: down for .*, status 500; Relay tries it again with a single request every/,
    );
    assert.equal(selected?.verdict, 'selected');

    const metrics = await (await fetch(`${url}/metrics`)).text();
    assert.match(
      metrics,
      new RegExp(`relay_endpoint_health\\{endpoint="${site.endpointId}",health="down"\\} 1`),
    );

    const { deployment } = site;
    const platform = await deployment.startProcess({ role: 'platform' });
    await deployment.restart();
    for (const each of [platform.url, url]) {
      const other = await site.endpoint(adminClient(each, deployment.adminToken), site.endpointId);
      assert.equal(other.health, 'down');
      assert.equal(other.health_detail.since, down.health_detail.since);
    }
    const sent = await sendRequest(url, { token: token(), model: LANE });
    assert.equal(sent.status, 200, 'a restarted gateway knows');
    await site.first().failWith(null);
  });
});

describe('the last candidate', () => {
  it('is never taken out: every request reaches it, and the first success is served', async () => {
    const { provider } = site.deployment;
    provider.script({ fault: { status: 500 }, persistent: true });
    const [url = ''] = urls();
    const before = provider.counts().requests;
    for (let n = 0; n < 12; n += 1) {
      const { status } = await sendRequest(url, { token: token(), model: SOLE_LANE });
      assert.equal(status, 500);
    }
    assert.equal(provider.counts().requests - before, 12);
    const [admin] = site.admins;
    assert.ok(admin);
    assert.equal((await site.endpoint(admin, site.soleId)).health, 'down');
    provider.reset();
    assert.equal((await sendRequest(url, { token: token(), model: SOLE_LANE })).status, 200);
    const isBack = async () => (await site.endpoint(admin, site.soleId)).health !== 'down';
    assert.ok(await until(isBack, 2_000));
  });
});
