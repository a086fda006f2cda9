import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { adminClient, createLane } from '../harness/admin-client.ts';
import { bareEnvironment } from '../harness/bare-environment.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { RELAY_ENTRY } from '../harness/relay-entry.ts';
import type { RelayProcess } from '../harness/relay-process.ts';
import { runProgram } from '../harness/run-program.ts';
import { until } from '../harness/until.ts';

// What `relay doctor`, `/metrics` and the statistics say of a deployment with separate roles: also without a worker, and without a store.

/** A worker that was killed is missed after 20 seconds. */
const MISSED_MS_MAX = 60_000;

interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'note' | 'warn' | 'fail';
  readonly message: string;
}

export function describeDoctor(): void {
  describe('a deployment with separate roles', () => {
    let deployment: Deployment;
    let platform: RelayProcess;
    let gateway: RelayProcess;
    let worker: RelayProcess;

    before(async () => {
      deployment = await startDeployment({ processes: 0 });
      platform = await deployment.startProcess({ role: 'platform' });
      gateway = await deployment.startProcess({ role: 'inference' });
      worker = await deployment.startProcess({ role: 'worker' });
      const admin = adminClient(platform.url, deployment.adminToken);
      const endpoints = [{ baseUrl: deployment.provider.baseUrl, upstreamModel: 'sim-multi' }];
      await createLane(admin, { name: 'lane', endpoints });
      await deployment.everywhere();
    });
    after(() => deployment.stop());

    async function doctor(url: string): Promise<readonly Finding[]> {
      const { adminToken, apiToken } = deployment;
      const tokens = { RELAY_ADMIN_TOKEN: adminToken, RELAY_API_TOKEN: apiToken };
      const env = { ...bareEnvironment(), RELAY_SERVER: url, ...tokens };
      const { output } = await runProgram(process.execPath, [RELAY_ENTRY, 'doctor', '--json'], env);
      return (JSON.parse(output) as { findings: Finding[] }).findings;
    }

    const failed = (findings: readonly Finding[]) => findings.filter(({ status }) => status === 'fail');
    const messages = (findings: readonly Finding[], check: string) =>
      findings.filter((each) => each.check === check).map(({ message }) => message);

    async function ledgerOf({
      url,
    }: RelayProcess): Promise<{ workers: number | null; lag_ms: number | null }> {
      const report = (await (await fetch(`${url}/healthz`)).json()) as {
        ledger: { workers: number | null; lag_ms: number | null };
      };
      return report.ledger;
    }

    async function ask(): Promise<number> {
      const body = JSON.stringify({ model: 'lane', messages: [{ role: 'user', content: 'Hello' }] });
      const headers = { authorization: `Bearer ${deployment.apiToken}`, 'content-type': 'application/json' };
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body });
      await answer.text();
      return answer.status;
    }

    async function completeUntil(): Promise<number> {
      const headers = { authorization: `Bearer ${deployment.adminToken}` };
      const answer = await fetch(`${platform.url}/api/relay/stats/summary`, { headers });
      const { complete_until: at } = (await answer.json()) as { complete_until: string };
      return Date.parse(at);
    }

    it('has no failed check at any of its processes while it is well', async () => {
      for (const { url } of [platform, gateway, worker]) {
        await until(async () => (await ledgerOf(platform)).workers === 1, MISSED_MS_MAX);
        const findings = await doctor(url);
        assert.deepEqual(failed(findings), [], url);
      }
      const [atGateway, atPlatform] = [await doctor(gateway.url), await doctor(platform.url)];
      assert.match(messages(atGateway, 'configuration').join(), /role inference serves no management/);
      assert.match(messages(atPlatform, 'tokens').join(), /role platform does not serve inference/);
    });

    it('that has no worker says so everywhere, and its statistics say until when they are complete', async () => {
      await worker.kill();
      const killedMs = Date.now();
      assert.equal(await ask(), 200);
      const isMissed = await until(async () => {
        const [one, other] = [await ledgerOf(platform), await ledgerOf(gateway)];
        return one.workers === 0 && other.workers === 0 && (one.lag_ms ?? 0) > 0 && (other.lag_ms ?? 0) > 0;
      }, MISSED_MS_MAX);
      assert.ok(isMissed, JSON.stringify(await ledgerOf(platform)));
      for (const { url } of [platform, gateway]) {
        const findings = messages(await doctor(url), 'metering');
        assert.match(findings.join(), /^No worker is running: usage waits/);
        const metrics = await (await fetch(`${url}/metrics`)).text();
        assert.match(metrics, /^relay_ledger_workers 0$/m);
        assert.match(metrics, /^relay_ledger_lag_seconds [1-9]/m);
      }
      assert.ok((await completeUntil()) < killedMs + 5_000, 'statistics claim requests that they miss');

      worker = await deployment.startProcess({ role: 'worker' });
      const isBack = await until(async () => {
        const { workers, lag_ms } = await ledgerOf(platform);
        return workers === 1 && lag_ms === 0;
      }, MISSED_MS_MAX);
      assert.ok(isBack);
      assert.match(messages(await doctor(platform.url), 'metering').join(), /^The ledger is up to date/);
      assert.ok((await completeUntil()) > killedMs + 5_000);
    });

    it('without PostgreSQL has one failed check; those that need it are skipped, and say so', async () => {
      await deployment.postgres.stop();
      const isTold = await until(
        async () => (await doctor(platform.url)).some(({ message }) => /^PostgreSQL is down: /.test(message)),
        MISSED_MS_MAX,
        1_000,
      );
      const findings = await doctor(platform.url);
      const atGateway = await doctor(gateway.url);
      await deployment.postgres.start();
      assert.ok(isTold);
      for (const found of [findings, atGateway]) assert.equal(failed(found).length, 1, JSON.stringify(found));
      for (const check of ['metering', 'tokens', 'migrations', 'configuration'])
        assert.match(messages(findings, check).join(), /^Not checked: /, check);
    });
  });
}
