import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from '../harness/until.ts';
import { settledRequests } from './ledger-tags.ts';
import type { Site } from './site.ts';
import { failures, introduce, startSteadyLoad } from './steady-load.ts';
import { TRIED_STATES } from './store-states.ts';

// What `/healthz`, `/metrics` and the log say in each state of the stores, and how a process ends in it.

const DRAIN_MS = 3_000;
/** What docs/guides/stopping.md promises after the drain timeout, and the second that a busy machine may take. */
const ENDED_MS_MAX = DRAIN_MS + 10_000 + 1_000;
/** PostgreSQL that hangs is noticed when a statement has timed out; all else within a few seconds. */
const TOLD_MS_MAX = 30_000;
const NOTHING_WRONG = { lost: [], duplicated: [], sumDifference: 0, left: [] };

interface Check {
  readonly status: string;
  readonly operation?: string;
  readonly reason?: string;
}

async function checkOf(url: string, store: string): Promise<Check | undefined> {
  const report = (await (await fetch(`${url}/healthz`)).json()) as { checks: Record<string, Check> };
  return report.checks[store];
}

export function describeStoreStates(siteOf: () => Site, figures: Record<string, unknown>): void {
  describe('a process whose store is not well', () => {
    for (const { name, store, operation, reason, begin, end } of TRIED_STATES) {
      it(`${name}: says so, ends by its deadline, and loses nothing`, async () => {
        const site = siteOf();
        const gateway = await site.deployment.startProcess({
          env: { RELAY_DRAIN_TIMEOUT_MS: String(DRAIN_MS), RELAY_LAME_DUCK_MS: '500' },
        });
        const tag = `stop-${name.replaceAll(' ', '-')}`;
        await introduce(tag, [gateway.url], [site.limited, ...site.unlimited]);
        const load = startSteadyLoad(tag, [gateway.url], site.unlimited);
        await begin(site);
        let told: Check | undefined;
        const isTold = await until(async () => {
          told = await checkOf(gateway.url, store);
          return told?.operation === operation && reason.test(told.reason ?? '');
        }, TOLD_MS_MAX);
        const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
        const ready = await fetch(`${gateway.url}/readyz`);
        const served = await load.stop();
        const startMs = performance.now();
        const code = await gateway.stop();
        const tookMs = Math.round(performance.now() - startMs);
        await end(site);
        const { lost, duplicated, sumDifference, left } = await settledRequests(site, tag);
        figures[name] = { told, requests: served.length, ended_ms: tookMs, lost: lost.length };
        assert.ok(isTold, `/healthz says ${JSON.stringify(told)}`);
        assert.match(metrics, new RegExp(`^relay_store_up{store="${store}"} 0$`, 'm'));
        assert.match(
          metrics,
          new RegExp(`^relay_store_operation_up{store="${store}",operation="${operation}"} 0$`, 'm'),
        );
        assert.equal(ready.status, 200, 'a process that serves what has no limit is not ready');
        assert.deepEqual(failures(served), {});
        assert.equal(code, 0);
        assert.ok(tookMs < ENDED_MS_MAX, `it took ${tookMs} ms`);
        assert.deepEqual({ lost, duplicated, sumDifference, left }, NOTHING_WRONG);
        const lines = gateway.logs.filter((line) => reason.test(String(line['reason'] ?? '')));
        assert.ok(lines.length > 0, 'the log has no line with the reason');
      });
    }
  });
}
