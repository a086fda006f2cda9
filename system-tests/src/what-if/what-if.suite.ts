import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ConfigFile, WhatIf } from '@relay/contract';
import { watchScheduler } from '@relay/testbed';
import { IS_LONG } from '@relay/testbed/long-form';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { type ProviderProcess, startProviderProcess } from '../harness/provider-process.ts';
import { readRequestLog } from '../harness/request-log.ts';
import { until } from '../harness/until.ts';
import { editedFile, recordedFile, SECRET_REF } from './configurations.ts';
import { addRequests } from './many-requests.ts';
import { scheduleOf, sendSchedule } from './traffic.ts';

// What-if against real gateways: one records traffic, another gets the same traffic with the edited configuration, and the replay of
// the first must say what the second did. The full size takes minutes: RELAY_SYSTEM_LONG=1 npm run system -- what-if

const TRAFFIC_MS = IS_LONG ? 120_000 : 16_000;
const MANY = 100_000;
/** The bound, and what a run on a busy machine is held to: gateways that are late delay requests, and a replay is never late. */
const bound = (inFull: number, busy: number): number => (IS_LONG ? inFull : busy);
const SECONDS_MAX = bound(10, 30);
const REPLAYED_MIN = bound(MANY, MANY / 4);
const OFF_MAX = bound(0.02, 0.06);
const LEDGER_MS_MAX = 20_000;

const figures = { requests: 0, seconds: 0, refusals_off: 0, waits_off: 0 };

after(() => reportFigures(figures));

describe('what-if', () => {
  let provider: ProviderProcess;
  let recorded: Deployment;
  let edited: Deployment;

  before(async () => {
    provider = await startProviderProcess();
    [recorded, edited] = await Promise.all([
      startDeployment({ stores: 'servers' }),
      startDeployment({ stores: 'servers' }),
    ]);
    for (const deployment of [recorded, edited]) await apply(deployment, recordedFile(provider.baseUrl));
    await apply(edited, editedFile());
  });
  after(async () => {
    await Promise.all([recorded?.stop(), edited?.stop()]);
    await provider?.stop();
  });

  it('says of recorded traffic what a gateway with the edited configuration does with it', async (context) => {
    using watch = watchScheduler([...recorded.processes, ...edited.processes, provider]);
    const schedule = scheduleOf(TRAFFIC_MS);
    const statuses = await Promise.all([recorded, edited].map((each) => sendSchedule(each, schedule)));
    assert.deepEqual([...new Set(statuses.flat())].sort(), [200, 429]);
    const [, met] = await Promise.all([recorded, edited].map((each) => metBy(each, schedule.length)));
    assert.ok(met !== undefined);
    const replayed = await whatIf(recorded, editedFile());
    const { history, before: today, after: edit, summary, took_ms } = replayed;
    context.diagnostic(JSON.stringify({ met, history, today, edit, summary, took_ms }));
    assert.equal(replayed.requests, schedule.length);
    figures.requests = schedule.length;
    figures.refusals_off = offBy(edit.rejected, met.rejected, schedule.length);
    figures.waits_off = offBy(waitMsOf(edit), met.waitMs, met.waitMs);
    // The replay of today's configuration must say what was recorded.
    const todayOff = offBy(today.rejected, history.rejected, schedule.length);
    const todayWaitsOff = offBy(waitMsOf(today), waitMsOf(history), waitMsOf(history));
    context.diagnostic(JSON.stringify({ ...figures, todayOff, todayWaitsOff }));
    for (const { rejected, wait_ms } of [history, edit]) assert.ok(rejected > 0 && wait_ms > 0);
    assert.notEqual(history.rejected, edit.rejected);
    watch.inTime(figures.refusals_off <= OFF_MAX, `${edit.rejected} and ${met.rejected} rejections`);
    watch.inTime(figures.waits_off <= OFF_MAX, `${waitMsOf(edit)} and ${met.waitMs} ms of waits`);
  });

  it(`replays ${MANY} requests in under ${SECONDS_MAX} s`, async (context) => {
    await addRequests(recorded.postgres.url, MANY);
    using watch = watchScheduler(recorded.processes);
    const startMs = performance.now();
    const replayed = await whatIf(recorded, editedFile());
    figures.seconds = Math.round((performance.now() - startMs) / 10) / 100;
    const { requests, cut, summary, took_ms } = replayed;
    context.diagnostic(JSON.stringify({ requests, cut, summary, took_ms, seconds: figures.seconds }));
    assert.ok(cut !== null);
    watch.inTime(requests >= REPLAYED_MIN, `${requests} requests, cut by ${cut}`);
    watch.within(1_000 * SECONDS_MAX, 1_000 * figures.seconds, 'the replay');
  });
});

async function apply({ admin }: Deployment, config: ConfigFile): Promise<void> {
  const secrets = config.credentials === undefined ? {} : { [SECRET_REF]: 'upstream-key' };
  const { status, body } = await admin.call('POST', '/api/relay/config/apply', { config, secrets });
  assert.equal(status, 200, JSON.stringify(body));
}

async function whatIf({ admin }: Deployment, config: ConfigFile): Promise<WhatIf> {
  const { status, body } = await admin.call('POST', '/api/relay/what-if', { config });
  assert.equal(status, 200, JSON.stringify(body));
  return body as WhatIf;
}

/** Of the log, once it has all requests: how many were rejected, and how long all of them waited. */
async function metBy({ admin }: Deployment, requests: number) {
  let entries = await readRequestLog(admin);
  const isComplete = await until(
    async () => {
      entries = await readRequestLog(admin);
      return entries.length >= requests;
    },
    LEDGER_MS_MAX,
    500,
  );
  assert.ok(isComplete, `the log has ${entries.length} of ${requests} requests`);
  return {
    rejected: entries.filter(({ state }) => state === 'failed').length,
    waitMs: entries.reduce((sum, { wait_ms }) => sum + wait_ms, 0),
  };
}

/** Of all requests: one that is rejected at the end of its wait budget differs little from one that is served just before. */
function waitMsOf({ wait_ms, wait_ms_rejected }: WhatIf['after']): number {
  return wait_ms + wait_ms_rejected;
}

function offBy(value: number, expected: number, whole: number): number {
  return Math.round((Math.abs(value - expected) / Math.max(1, whole)) * 10_000) / 10_000;
}
