import assert from 'node:assert/strict';
import type { RequestDetail } from '@relay/contract';
import { type AdminClient, createLane } from '../harness/admin-client.ts';
import { modes, requestText } from '../harness/mode.ts';
import { exchangeRaw, type RawAnswer } from '../harness/raw-exchange.ts';
import { requestWhenLogged } from '../harness/request-log.ts';
import { until } from '../harness/until.ts';
import { checkWaitBudgetRefusal } from '../harness/wait-budget-refusal.ts';
import { MODELS, type PlaceEndpoint } from './places.ts';
import { newKey } from './quotes.ts';
import type { Matrix } from './run-cell.ts';

// An endpoint in cooldown: which requests avoid it, for how long, and their responses.

export interface Fleet {
  readonly matrix: Matrix;
  /** Another process of the same deployment. */
  readonly otherUrl: string;
  /** More endpoints in one lane than the deployment tries. */
  readonly bounded: { readonly lane: string; readonly endpoints: readonly OwnEndpoint[] };
}

type OwnEndpoint = Pick<PlaceEndpoint, 'id' | 'key'>;

interface CooldownCell {
  readonly name: string;
  readonly run: (fleet: Fleet, cell: CooldownCell) => Promise<void>;
  /** How long its requests may wait. */
  readonly waitMsMax: number;
  /** There is no second endpoint. */
  readonly alone?: boolean;
  /** It needs the other process. */
  readonly ofSeveral?: boolean;
}

const SEEN_MS_MAX = 5_000;

export const cooldownCells: readonly CooldownCell[] = [
  {
    name: 'a cooldown is seen by the other process, which goes to the next candidate',
    run: otherAvoids,
    waitMsMax: 0,
    ofSeveral: true,
  },
  {
    name: 'a cooling endpoint does not delay a request that another can serve now',
    run: idleServes,
    waitMsMax: 10_000,
  },
  {
    name: 'a request waits for a cooling endpoint within its budget',
    run: waitsWithin,
    waitMsMax: 10_000,
    alone: true,
  },
  {
    name: 'beyond the budget it gets 429 with the time to come back',
    run: refusedBeyond,
    waitMsMax: 50,
    alone: true,
  },
  {
    name: 'the other process refuses beyond the budget as well',
    run: otherRefuses,
    waitMsMax: 0,
    alone: true,
    ofSeveral: true,
  },
  {
    name: 'at the time it was told to come back it is served',
    run: servedAfterwards,
    waitMsMax: 0,
    alone: true,
  },
  {
    name: 'no more candidates are tried than the bound allows',
    run: attemptsAreBounded,
    waitMsMax: 0,
    alone: true,
  },
  {
    name: 'when every candidate fails the last one’s own words are passed on',
    run: lastWordsPass,
    waitMsMax: 0,
  },
];

/** The lane of `attemptsAreBounded`. Of its endpoints only the last one serves. */
export async function createBounded(admin: AdminClient, baseUrl: string): Promise<Fleet['bounded']> {
  const endpoints = [1, 2, 3, 4, 5].map(() => ({ baseUrl, upstreamModel: MODELS.first, secret: newKey() }));
  const { endpointIds } = await createLane(admin, { name: 'bounded', endpoints });
  return {
    lane: 'bounded',
    endpoints: endpoints.map(({ secret }, index) => ({ id: endpointIds[index] ?? '', key: secret })),
  };
}

async function otherAvoids(fleet: Fleet, cell: CooldownCell): Promise<void> {
  const { first, second, lane } = fleet.matrix.placeOf(cell);
  throttle(fleet, first, '30');
  const served = await ask(fleet, fleet.matrix.url, lane.name);
  assert.equal(served.headers['x-relay-selected-endpoint-id'], second.id);
  assert.equal(served.headers['x-relay-fallback-count'], '1');
  await eventually(async () => {
    const answer = await ask(fleet, fleet.otherUrl, lane.name);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['x-relay-selected-endpoint-id'], second.id);
    // Skipped from the start, not tried first.
    assert.equal(answer.headers['x-relay-fallback-count'], '0');
  });
}

async function idleServes(fleet: Fleet, cell: CooldownCell): Promise<void> {
  const { first, second, lane } = fleet.matrix.placeOf(cell);
  throttle(fleet, first, '6');
  await ask(fleet, fleet.matrix.url, lane.name);
  const answer = await ask(fleet, fleet.matrix.url, lane.name);
  assert.equal(answer.headers['x-relay-selected-endpoint-id'], second.id);
  assert.equal(answer.headers['x-relay-fallback-count'], '0');
  assert.equal(answer.headers['x-relay-wait-ms'], '0');
  assert.equal(requestsSeen(fleet, first), 1);
}

async function waitsWithin(fleet: Fleet, cell: CooldownCell): Promise<void> {
  const { first, lane } = fleet.matrix.placeOf(cell);
  throttle(fleet, first, '1');
  const startMs = performance.now();
  // The throttled request itself waits and is sent again.
  const answer = await ask(fleet, fleet.matrix.url, lane.name);
  const tookMs = performance.now() - startMs;
  assert.equal(answer.status, 200);
  const waitMs = Number(answer.headers['x-relay-wait-ms']);
  assert.ok(waitMs > 500 && waitMs <= tookMs, `waited ${waitMs} of ${tookMs} ms`);
  const row = await rowOf(fleet, answer);
  assert.equal(row.wait_ms, waitMs);
  assert.equal(row.state, 'completed');
  assert.equal(requestsSeen(fleet, first), 2);
}

async function refusedBeyond(fleet: Fleet, cell: CooldownCell): Promise<void> {
  const { first, lane } = fleet.matrix.placeOf(cell);
  throttle(fleet, first, '20');
  await ask(fleet, fleet.matrix.url, lane.name);
  const answer = await ask(fleet, fleet.matrix.url, lane.name);
  checkWaitBudgetRefusal(answer, 20);
  assert.equal(requestsSeen(fleet, first), 1);
  const row = await rowOf(fleet, answer);
  assert.deepEqual(
    {
      state: row.state,
      status: row.http_status,
      code: row.error_code,
      attempts: row.attempts,
      usage: row.usage_source,
    },
    { state: 'failed', status: 429, code: 'rate_limit_wait_budget_exceeded', attempts: [], usage: 'none' },
  );
}

async function otherRefuses(fleet: Fleet, cell: CooldownCell): Promise<void> {
  const { first, lane } = fleet.matrix.placeOf(cell);
  await eventually(async () => assert.equal((await ask(fleet, fleet.otherUrl, lane.name)).status, 200));
  throttle(fleet, first, '20');
  assert.equal((await ask(fleet, fleet.matrix.url, lane.name)).status, 429);
  await eventually(async () => checkWaitBudgetRefusal(await ask(fleet, fleet.otherUrl, lane.name), 20));
}

async function servedAfterwards(fleet: Fleet, cell: CooldownCell): Promise<void> {
  const { first, lane } = fleet.matrix.placeOf(cell);
  throttle(fleet, first, '2');
  await ask(fleet, fleet.matrix.url, lane.name);
  const refused = await ask(fleet, fleet.matrix.url, lane.name);
  checkWaitBudgetRefusal(refused, 2);
  await new Promise((resolve) => setTimeout(resolve, Number(refused.headers['retry-after-ms'])));
  const served = await ask(fleet, fleet.matrix.url, lane.name);
  assert.equal(served.status, 200);
  assert.equal(served.headers['x-relay-wait-ms'], '0');
}

/** The deployment allows four; the lane offers five, of which only the last would answer. */
async function attemptsAreBounded(fleet: Fleet): Promise<void> {
  const { lane, endpoints } = fleet.bounded;
  for (const { key } of endpoints.slice(0, 4)) {
    fleet.matrix.providers.first.script({ match: { key }, fault: { status: 503 } });
  }
  const answer = await ask(fleet, fleet.matrix.url, lane);
  assert.equal(answer.status, 503);
  assert.equal(answer.headers['x-relay-error-source'], 'upstream');
  assert.equal(answer.headers['x-relay-fallback-count'], '3');
  assert.deepEqual(
    endpoints.map((endpoint) => requestsSeen(fleet, endpoint)),
    [1, 1, 1, 1, 0],
  );
  const row = await rowOf(fleet, answer);
  assert.deepEqual(
    row.attempts.map(({ endpoint_id }) => endpoint_id),
    endpoints.slice(0, 4).map(({ id }) => id),
  );
  assert.equal(row.fallback_count, 3);
}

async function lastWordsPass(fleet: Fleet, cell: CooldownCell): Promise<void> {
  const { first, second, lane } = fleet.matrix.placeOf(cell);
  fleet.matrix.providers.first.script({ match: { key: first.key }, fault: { status: 500 } });
  const words = { status: 429, body: { error: { message: 'The last word.' } } };
  fleet.matrix.providers.second.script({ match: { key: second.key }, fault: words });
  const answer = await ask(fleet, fleet.matrix.url, lane.name);
  assert.equal(answer.status, 429);
  assert.equal(answer.body.toString(), JSON.stringify(words.body));
  assert.equal(answer.headers['x-relay-error-source'], 'upstream');
  assert.equal(answer.headers['x-relay-selected-endpoint-id'], second.id);
  assert.equal(answer.headers['x-relay-fallback-count'], '1');
}

function rowOf({ matrix: { admin } }: Fleet, { headers }: RawAnswer): Promise<RequestDetail> {
  return requestWhenLogged(admin, { requestId: headers['x-request-id'] ?? '' });
}

function throttle({ matrix }: Fleet, endpoint: OwnEndpoint, retryAfter: string): void {
  matrix.providers.first.script({ match: { key: endpoint.key }, fault: { status: 429, retryAfter } });
}

function ask({ matrix }: Fleet, url: string, laneName: string): Promise<RawAnswer> {
  return exchangeRaw({
    url: `${url}/v1/chat/completions`,
    headers: { authorization: `Bearer ${matrix.apiToken}` },
    body: requestText(modes.chat, laneName, 'Is it quiet?'),
    agent: matrix.agent,
  });
}

function requestsSeen({ matrix }: Fleet, endpoint: OwnEndpoint): number {
  return matrix.providers.first.log.filter(({ key }) => key === endpoint.key).length;
}

/** The other process reads configuration and cooldowns in turns of its own. */
async function eventually(check: () => Promise<void>): Promise<void> {
  const holds = () => check().then(() => true);
  if (!(await until(holds, SEEN_MS_MAX, 50))) await check();
}
