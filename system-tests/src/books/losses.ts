import assert from 'node:assert/strict';
import { request } from 'node:http';
import type { RequestDetail } from '@relay/contract';
import { freePort } from '@relay/testbed';
import { adminClient } from '../harness/admin-client.ts';
import { readRequest, readRequestLog } from '../harness/request-log.ts';
import { afterMs, until } from '../harness/until.ts';
import { countedMetrics } from './limits.ts';
import type { BilledProvider } from './provider.ts';
import { addLane, addLimit, ask, type Loser, refusedPlay, servedPlay, usedOf } from './small-site.ts';
import { startStuckPort } from './stuck-port.ts';

/** What one situation of this kind needs. */
interface Place {
  readonly loser: Loser;
  readonly provider: BilledProvider;
  /** Tells the lanes of situations apart. */
  readonly mark: string;
}

/** What has to hold after the loss, on gateways that serve again. */
type Check = (urls: readonly string[]) => Promise<void>;

export interface LossSituation {
  readonly name: string;
  readonly run: (place: Place) => Promise<Check>;
}

const LIMIT = 10;
const PLENTY = 4_000_000_000_000;
const LARGE = { input: 1_000, output: 300 };
const SMALL = { input: 11, output: 7 };
const LEAVES = 40;
const STUCK = 8;
const MINUTE_MS = 60_000;
const OPENED_MS_MAX = 5_000;
const ROWS_MS_MAX = 20_000;

/** The one by the minute is the last before the loss, and the first after it. */
export const lossSituations: readonly LossSituation[] = [
  { name: 'a limit of 10 a day that ten rejected requests used up', run: usedUp },
  { name: 'limits that failed attempts with usage used up', run: failedAttempts },
  { name: 'requests to a closed port cost nothing', run: closedPort },
  { name: 'a lane with a first endpoint that cannot be reached', run: deadFirst },
  { name: 'clients that leave while Relay connects', run: leavers },
  { name: 'a limit of 10 a minute that ten rejected requests used up', run: usedUpByTheMinute },
];

/** Runs all situations up to the loss, loses the live state, and checks each. Answers what failed. */
export async function runLosses(loser: Loser, provider: BilledProvider): Promise<Map<string, unknown>> {
  const failed = new Map<string, unknown>();
  const checks = new Map<string, Check>();
  const attempt = async (name: string, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      failed.set(name, error);
    }
  };
  for (const [index, { name, run }] of lossSituations.entries())
    await attempt(name, async () => {
      checks.set(name, await run({ loser, provider, mark: `s${index}` }));
    });
  await loser.after(async (urls) => {
    for (const [name, check] of [...checks].reverse()) await attempt(name, () => check(urls));
  });
  return failed;
}

async function usedUp({ loser, provider, mark }: Place): Promise<Check> {
  const { admin, url } = loser.deployment;
  const lane = await addLane(admin, provider, `${mark}-day`, [null]);
  const limit = await addLimit(admin, { type: 'lane', id: lane.id }, 'requests', LIMIT);
  await loser.deployment.everywhere();
  const bill = provider.expect(lane.endpoints, await refusals(2 * LIMIT, 400));
  for (let turn = 0; turn < LIMIT; turn += 1) assert.equal(await ask(loser, url, lane.name), 400);
  assert.equal(await ask(loser, url, lane.name), 429);
  return async (urls) => {
    const statuses = await askAll(loser, urls, lane.name, LIMIT);
    assert.equal(
      bill.requests.length,
      LIMIT,
      `requests that reached the provider; then ${statuses.join(' ')}`,
    );
    assert.deepEqual(await usedOf(loser, urls[0] ?? '', [limit]), [LIMIT]);
  };
}

/** The minute may pass on a busy machine, so the provider's times are the judge. */
async function usedUpByTheMinute({ loser, provider, mark }: Place): Promise<Check> {
  const { admin, url } = loser.deployment;
  const lane = await addLane(admin, provider, `${mark}-minute`, [null]);
  await addLimit(admin, { type: 'lane', id: lane.id }, 'requests', LIMIT, 'minute');
  await loser.deployment.everywhere();
  const bill = provider.expect(lane.endpoints, await refusals(2 * LIMIT, 422));
  for (let turn = 0; turn < LIMIT; turn += 1) assert.equal(await ask(loser, url, lane.name), 422);
  return async (urls) => {
    const statuses = await askAll(loser, urls, lane.name, LIMIT);
    const times = bill.requests.map(({ atMs }) => atMs);
    const most = Math.max(...times.map((to) => times.filter((at) => at <= to && to - at < MINUTE_MS).length));
    assert.equal(most, LIMIT, `requests that reached the provider in a minute; then ${statuses.join(' ')}`);
  };
}

const refusals = (count: number, status: number) =>
  Promise.all(Array.from({ length: count }, () => refusedPlay(status)));

async function askAll(
  loser: Loser,
  urls: readonly string[],
  lane: string,
  count: number,
): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (let turn = 0; turn < count; turn += 1)
    statuses.push(await ask(loser, urls[turn % urls.length] ?? '', lane));
  return statuses;
}

/** Five requests of two attempts each: 429 with usage, then an answer of another endpoint. */
async function failedAttempts({ loser, provider, mark }: Place): Promise<Check> {
  const { admin, url } = loser.deployment;
  const lane = await addLane(admin, provider, `${mark}-attempts`, [null, null]);
  const scope = { type: 'lane', id: lane.id } as const;
  const limits = [
    await addLimit(admin, scope, 'requests', LIMIT),
    await addLimit(admin, scope, 'tokens', PLENTY),
    await addLimit(admin, scope, 'spend', PLENTY),
  ];
  const first = { type: 'endpoint', id: lane.endpointIds[0] ?? '' } as const;
  limits.push(
    await addLimit(admin, first, 'requests', PLENTY),
    await addLimit(admin, first, 'tokens', PLENTY),
  );
  await loser.deployment.everywhere();
  const pairs = await Promise.all(
    Array.from({ length: LIMIT }, async () => [await refusedPlay(429, LARGE), await servedPlay(SMALL)]),
  );
  const bill = provider.expect(lane.endpoints, pairs.flat());
  for (let turn = 0; turn < LIMIT / 2; turn += 1) assert.equal(await ask(loser, url, lane.name), 200);
  const tokens = (LIMIT / 2) * (LARGE.input + LARGE.output + SMALL.input + SMALL.output);
  const expected = [LIMIT, tokens, 2 * tokens, LIMIT / 2, (LIMIT / 2) * (LARGE.input + LARGE.output)];
  await until(async () => String(await usedOf(loser, url, limits)) === String(expected), ROWS_MS_MAX);
  assert.deepEqual(await usedOf(loser, url, limits), expected, 'before the loss');
  return async (urls) => {
    const statuses = await askAll(loser, urls, lane.name, LIMIT / 2);
    const used = await usedOf(loser, urls[0] ?? '', limits);
    assert.deepEqual({ used, statuses }, { used: expected, statuses: statuses.map(() => 429) });
    assert.equal(bill.requests.length, LIMIT, 'attempts that reached the provider');
    const later = adminClient(urls[0] ?? '', loser.deployment.adminToken);
    const fresh = await addLimit(later, scope, 'tokens', PLENTY + 1);
    const isKnown = async () => (await usedOf(loser, urls[0] ?? '', [fresh]))[0] === tokens;
    assert.ok(await until(isKnown, OPENED_MS_MAX), 'a limit that is created later holds the same');
  };
}

async function closedPort({ loser, provider, mark }: Place): Promise<Check> {
  const { admin, url } = loser.deployment;
  const lane = await addLane(admin, provider, `${mark}-closed`, [`http://127.0.0.1:${await freePort()}/v1`]);
  const limits = await limitsOf(loser, lane.id, lane.endpointIds[0] ?? '');
  for (let turn = 0; turn < 3; turn += 1) assert.equal(await ask(loser, url, lane.name), 502);
  const rows = await rowsOf(loser, url, lane.id, 3);
  assert.deepEqual(
    rows.map(({ usage_source, cost_micros }) => [usage_source, cost_micros ?? 0]),
    rows.map(() => ['none', 0]),
  );
  assert.deepEqual(
    await usedOf(loser, url, limits),
    limits.map(() => 0),
  );
  return async ([again = '']) => {
    assert.deepEqual(
      await usedOf(loser, again, limits),
      limits.map(() => 0),
    );
  };
}

async function deadFirst({ loser, provider, mark }: Place): Promise<Check> {
  const { admin, url } = loser.deployment;
  const closed = `http://127.0.0.1:${await freePort()}/v1`;
  const lane = await addLane(admin, provider, `${mark}-dead`, [closed, null]);
  const limits = await limitsOf(loser, lane.id, lane.endpointIds[0] ?? '');
  const turns = 5;
  const bill = provider.expect(
    lane.endpoints,
    await Promise.all(Array.from({ length: turns }, () => servedPlay(SMALL))),
  );
  for (let turn = 0; turn < turns; turn += 1) assert.equal(await ask(loser, url, lane.name), 200);
  const rows = await rowsOf(loser, url, lane.id, turns);
  bill.end();
  const sum = (of: (row: RequestDetail) => number | null) =>
    rows.reduce((all, row) => all + (of(row) ?? 0), 0);
  const ofLane = [turns, sum((row) => row.total_tokens), sum((row) => row.cost_micros)];
  assert.deepEqual(ofLane, [bill.requests.length, turns * 18, turns * 36]);
  const expected = [...ofLane, 0, 0, 0];
  assert.deepEqual(await usedOf(loser, url, limits), expected);
  return async ([again = '']) => {
    assert.deepEqual(await usedOf(loser, again, limits), expected);
  };
}

/** Of the lane, then of the endpoint: requests, tokens and spend. */
async function limitsOf(loser: Loser, laneId: string, endpointId: string): Promise<string[]> {
  const limits: string[] = [];
  for (const scope of [
    { type: 'lane', id: laneId },
    { type: 'endpoint', id: endpointId },
  ] as const)
    for (const metric of countedMetrics)
      limits.push(await addLimit(loser.deployment.admin, scope, metric, PLENTY));
  await loser.deployment.everywhere();
  return limits;
}

/** Clients that leave after 1 to 14 ms, and some whose requests wait for a port that accepts no connection. */
async function leavers({ loser, provider, mark }: Place): Promise<Check> {
  const { admin, url } = loser.deployment;
  const quick = await addLane(admin, provider, `${mark}-quick`, [null]);
  const limits = await limitsOf(loser, quick.id, quick.endpointIds[0] ?? '');
  const plays = await Promise.all(
    Array.from({ length: LEAVES }, async () => ({ ...(await servedPlay(SMALL)), trailing: '' })),
  );
  const bill = provider.expect(quick.endpoints, plays);
  for (let turn = 0; turn < LEAVES; turn += 1) await leave(loser, url, quick.name, 1 + (turn % 14));
  const rows = await settledRows(loser, url, quick.id, () => bill.requests.length);
  bill.end();
  const charged = rows.filter(
    ({ usage_source, cost_micros }) => usage_source !== 'none' || (cost_micros ?? 0) > 0,
  );
  assert.equal(charged.length, bill.requests.length, 'rows with a cost, and heads that the provider saw');
  const [sent, , , atEndpoint] = await usedOf(loser, url, limits);
  assert.deepEqual([sent, atEndpoint], [bill.requests.length, bill.requests.length]);

  await stuckLeavers({ loser, provider, mark });
  const used = await usedOf(loser, url, limits);
  return async ([again = '']) => {
    assert.deepEqual(await usedOf(loser, again, limits), used);
  };
}

async function stuckLeavers({ loser, provider, mark }: Place): Promise<void> {
  const { admin, url } = loser.deployment;
  const stuck = await startStuckPort();
  try {
    const lane = await addLane(admin, provider, `${mark}-stuck`, [`http://127.0.0.1:${stuck.port}/v1`]);
    const ofStuck = await limitsOf(loser, lane.id, lane.endpointIds[0] ?? '');
    await Promise.all(
      Array.from({ length: STUCK }, (_, turn) => leave(loser, url, lane.name, 100 + 20 * turn)),
    );
    const waiting = await rowsOf(loser, url, lane.id, STUCK);
    assert.deepEqual(
      waiting.map(({ cost_micros, input_tokens }) => [cost_micros ?? 0, input_tokens ?? 0]),
      waiting.map(() => [0, 0]),
      'requests that were never sent',
    );
    assert.deepEqual(
      await usedOf(loser, url, ofStuck),
      ofStuck.map(() => 0),
    );
  } finally {
    stuck.stop();
  }
}

function leave({ deployment }: Loser, url: string, lane: string, afterThisMs: number): Promise<void> {
  const words = 'word '.repeat(800);
  const body = JSON.stringify({ model: lane, messages: [{ role: 'user', content: words }] });
  return new Promise((resolve) => {
    const outgoing = request(`${url}/v1/chat/completions`, {
      method: 'POST',
      agent: false,
      headers: { authorization: `Bearer ${deployment.apiToken}`, 'content-type': 'application/json' },
    });
    outgoing.on('error', () => undefined);
    outgoing.on('response', (answer) => answer.resume().on('error', () => undefined));
    outgoing.once('close', () => resolve());
    outgoing.end(body);
    setTimeout(() => outgoing.destroy(), afterThisMs);
  });
}

/** The rows of a lane, once there are so many. */
async function rowsOf(
  { deployment }: Loser,
  url: string,
  laneId: string,
  count: number,
): Promise<RequestDetail[]> {
  const admin = adminClient(url, deployment.adminToken);
  const entries = async () => (await readRequestLog(admin)).filter(({ lane_id }) => lane_id === laneId);
  await until(async () => (await entries()).length >= count, ROWS_MS_MAX, 200);
  const found = await Promise.all((await entries()).map(({ request_id }) => readRequest(admin, request_id)));
  assert.equal(found.length, count, 'rows');
  return found.filter((row) => row !== null);
}

/** Not every client that leaves has a row: some leave before Relay has read their request. */
async function settledRows(
  { deployment }: Loser,
  url: string,
  laneId: string,
  seen: () => number,
): Promise<RequestDetail[]> {
  const admin = adminClient(url, deployment.adminToken);
  let count = -1;
  let entries: string[] = [];
  await until(
    async () => {
      const before = `${count} ${entries.length}`;
      entries = (await readRequestLog(admin)).flatMap(({ lane_id, request_id }) =>
        lane_id === laneId ? [request_id] : [],
      );
      count = seen();
      return before === `${count} ${entries.length}`;
    },
    ROWS_MS_MAX,
    1_500,
  );
  await afterMs(0);
  const found = await Promise.all(entries.map((id) => readRequest(admin, id)));
  return found.filter((row) => row !== null);
}
