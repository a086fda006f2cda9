import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { type PrivateRedis, redisCall, redisKeys, startRedis } from '@relay/testbed';
import { IS_LONG } from '@relay/testbed/long-form';
import { createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { type LedgerView, openLedgerView } from '../harness/ledger-view.ts';
import { slidingExcess, tagOf } from '../harness/provider-view.ts';
import { type RelayProcess, runRelay } from '../harness/relay-process.ts';
import { sendTagged, type TaggedAnswer } from '../harness/tagged-request.ts';
import { afterMs, until } from '../harness/until.ts';
import { fakeClock } from './fake-clock.ts';

// What clocks that are wrong do to limits and to the ledger: gateways and workers by days, a Redis whose clock is set back.

const REQUESTS_EACH = IS_LONG ? 300 : 40;
const LIMIT = { second: 5, minute: 20 };
/** A worker looks for what is past its retention a minute after its start. */
const RETENTION_MS = 80_000;
const DAY_MS = 86_400_000;
const REPEATED_MS_MAX = 20_000;

const figures = { lost: 0, duplicated: 0, exceeded: 0 };
const directory = mkdtempSync(join(tmpdir(), 'relay-clocks-'));
let redis: PrivateRedis;
let deployment: Deployment;
let ledger: LedgerView;

before(async () => {
  redis = await startRedis({ appendonly: true });
  deployment = await startDeployment({
    env: { REDIS_URL: redis.url, RELAY_SPOOL_DIR: join(directory, 'spool') },
  });
  ledger = openLedgerView(deployment.postgres.url);
  const endpoints = [
    { baseUrl: deployment.provider.baseUrl, upstreamModel: 'sim-multi', endpoint: { pacing: false } },
  ];
  await createLane(deployment.admin, { name: 'free', endpoints });
  for (const period of ['second', 'minute'] as const) {
    const { laneId } = await createLane(deployment.admin, {
      name: period,
      lane: { default_max_wait_ms: 0 },
      endpoints,
    });
    for (const [each, limit_value] of [
      [period, LIMIT[period]],
      ['hour', 1_000_000],
    ] as const)
      await deployment.admin.create('/api/relay/limit-policies', {
        scope_type: 'lane',
        scope_id: laneId,
        metric: 'requests',
        period: each,
        limit_value,
        enabled: true,
      });
  }
  await deployment.everywhere();
});
after(async () => {
  reportFigures(figures);
  await ledger?.close();
  await deployment?.stop();
  await redis?.remove();
  rmSync(directory, { recursive: true, force: true });
});

/** A store that is slow for a moment answers 503, which clients repeat. */
async function ask(url: string, model: string, tag: string): Promise<TaggedAnswer> {
  const untilMs = performance.now() + REPEATED_MS_MAX;
  for (;;) {
    const answer = await sendTagged({ url, token: deployment.apiToken, model, tag }).answer;
    if (answer.status !== 503 || performance.now() > untilMs) return answer;
    await afterMs(200);
  }
}

function send(url: string, model: string, prefix: string, count: number): Promise<TaggedAnswer[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => ask(url, model, `${prefix}-${index}`)));
}

async function readiness(url: string): Promise<{ status: number; detail: string }> {
  const response = await fetch(`${url}/readyz`);
  const { clock } = (await response.json()) as { clock?: { detail?: string } };
  return { status: response.status, detail: clock?.detail ?? '' };
}

async function partitions(): Promise<string[]> {
  const rows = await ledger.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'requests'::regclass order by 1`,
  );
  return rows.map(({ name }) => name);
}

it('gateways and workers that are days off lose, repeat and misplace no row', async () => {
  const start = (offset: string, role: string): Promise<RelayProcess> =>
    deployment.startProcess({ role, env: fakeClock(offset) });
  const ahead = await start('+3d', 'inference');
  const behind = await start('-3d', 'all');
  const worker = await start('+500d', 'worker');
  for (const each of [ahead, behind, worker]) {
    const { status, detail } = await readiness(each.url);
    assert.equal(status, 503);
    assert.match(detail, /^Relay’s clock is (?:\d+ (?:d|h|min|s) )+(ahead of|behind) \w+’s\.$/);
  }
  assert.deepEqual(await readiness(deployment.url), { status: 200, detail: '' });
  const answers = (
    await Promise.all([
      send(ahead.url, 'free', 'ahead', REQUESTS_EACH),
      send(behind.url, 'free', 'behind', REQUESTS_EACH),
      send(deployment.url, 'free', 'right', REQUESTS_EACH),
    ])
  ).flat();
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  const tags = new Set(deployment.provider.log.map(tagOf));
  assert.equal(tags.size, 3 * REQUESTS_EACH);
  const dispatched = async () => (await ledger.rows()).filter(({ usageSource }) => usageSource !== 'none');
  await until(async () => (await dispatched()).length >= tags.size, 30_000);
  if (IS_LONG) await afterMs(RETENTION_MS);
  const rows = await dispatched();
  figures.lost = [...tags].filter((tag) => !rows.some((row) => row.tag === tag)).length;
  figures.duplicated = rows.length - new Set(rows.map(({ tag }) => tag)).size;
  assert.deepEqual([figures.lost, figures.duplicated, await ledger.poisoned()], [0, 0, 0]);
  for (const { requestId, tag } of rows) {
    const atMs = Number.parseInt(requestId.replaceAll('-', '').slice(0, 12), 16);
    assert.ok(Math.abs(atMs - Date.now()) < 600_000, `${tag} has a row of another time`);
  }
  for (const name of await partitions()) {
    const atMs = Date.parse(name.replace(/^requests_(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3'));
    assert.ok(Math.abs(atMs - Date.now()) < 9 * DAY_MS, `there is a partition ${name}`);
  }
  await Promise.all([ahead, behind, worker].map((each) => each.stop()));
});

it('a record that was refused is replayed by command, once', async () => {
  const [stream] = await redisKeys(redis.port, 'relay:{s*}:usage');
  const [row] = await ledger.query<{ organization_id: string }>(
    'select organization_id from requests limit 1',
  );
  assert.ok(stream && row);
  const hex = (Date.now() + 3 * DAY_MS).toString(16).padStart(12, '0');
  const requestId = `${hex.slice(0, 8)}-${hex.slice(8)}${randomUUIDv7().slice(13)}`;
  const record = {
    requestId,
    organizationId: row.organization_id,
    userId: null,
    keyId: null,
    clientRequestId: 'refused-0',
    operation: 'chat',
    streaming: false,
    laneId: null,
    endpointId: null,
    providerId: null,
    upstreamModel: null,
    state: 'completed',
    status: 200,
    cause: null,
    attempts: [],
    arrivedAtMs: Date.now(),
    waitMs: 0,
    ttftMs: null,
    latencyMs: 1,
    estimatedInputTokens: 1,
    estimatedOutputTokens: 1,
    usageSource: 'reported',
    actualInputTokens: 1,
    actualCachedInputTokens: 0,
    actualOutputTokens: 1,
    actualCostMicros: null,
  };
  await redisCall(redis.port, 'XADD', stream, '*', 'r', JSON.stringify(record));
  assert.equal(await until(async () => (await ledger.poisoned()) === 1, 20_000), true);
  const replay = async () => JSON.parse(await runRelay(['usage', 'replay'], deployment.env));
  const once = { written: 1, present: 0, refused: 0, sealed: 0 };
  assert.deepEqual(await replay(), once);
  assert.deepEqual(await replay(), { ...once, written: 0 });
  const written = (await ledger.rows()).filter(({ tag }) => tag === 'refused-0');
  assert.equal(written.length, 1);
  await ledger.query('delete from poisoned_usage');
});

it('a Redis whose clock was an hour ahead and is set right freezes no window and lifts none', async () => {
  const { url } = deployment;
  /** Redis keeps what it holds, as a replica does that takes over. */
  const restartRedis = async (env: Record<string, string>) => {
    await redis.stop();
    await redis.start(env);
    const isUp = async () => {
      const { checks } = (await (await fetch(`${url}/healthz`)).json()) as {
        checks: Record<string, { status: string }>;
      };
      return checks['redis']?.status === 'ok';
    };
    assert.equal(await until(isUp, 15_000), true, 'Redis is not found again');
    const [seconds] = (await redisCall(redis.port, 'TIME')) as unknown as string[];
    return Number(seconds) - Math.floor(Date.now() / 1_000);
  };
  const served = (answers: readonly TaggedAnswer[]) => answers.filter(({ status }) => status === 200).length;
  assert.ok((await restartRedis(fakeClock('+3600s'))) > 3_500);
  assert.equal(served(await send(url, 'minute', 'minute-ahead', 2 * LIMIT.minute)), LIMIT.minute);
  assert.ok(served(await send(url, 'second', 'second-ahead', 2 * LIMIT.second)) >= LIMIT.second);
  assert.ok((await restartRedis({})) < 60);
  const refused = await send(url, 'minute', 'minute-right', 2 * LIMIT.minute);
  for (const { status, headers } of refused) {
    assert.equal(status, 429);
    assert.ok(Number(headers['retry-after']) <= 62, `Retry-After is ${headers['retry-after']}`);
  }
  await afterMs(1_200);
  assert.ok(
    served(await send(url, 'second', 'second-right', 2 * LIMIT.second)) >= LIMIT.second,
    'it is frozen',
  );
  if (IS_LONG) {
    await afterMs(62_000);
    assert.equal(served(await send(url, 'minute', 'minute-later', 2 * LIMIT.minute)), LIMIT.minute);
  }
  const entries = deployment.provider.log.filter((entry) => tagOf(entry).startsWith('minute-'));
  figures.exceeded = slidingExcess(entries, 60_000, LIMIT.minute, () => 1).exceeded;
  assert.equal(figures.exceeded, 0);
});
