import assert from 'node:assert/strict';
import type { AdminClient } from '../harness/admin-client.ts';
import { modes, requestText } from '../harness/mode.ts';
import { exchangeRaw, type RawAnswer } from '../harness/raw-exchange.ts';
import { checkWaitBudgetRefusal } from '../harness/wait-budget-refusal.ts';
import type { Matrix } from './run-cell.ts';
import { createEndpoint, createLaneOf, FIRST_MODEL, SECOND_MODEL, type SlotEndpoint } from './slots.ts';

// An endpoint in cooldown: which requests avoid it, for how long, and their responses.

export interface Fleet {
  readonly matrix: Matrix;
  readonly admin: AdminClient;
  /** Another process of the same deployment. */
  readonly otherUrl: string;
  readonly firstProviderId: string;
  readonly secondProviderId: string;
}

export interface NamedCell {
  readonly name: string;
  readonly run: (fleet: Fleet) => Promise<void>;
  /** It needs the other process. */
  readonly ofSeveral?: boolean;
}

const SEEN_MS_MAX = 5_000;

export const cooldownCells: readonly NamedCell[] = [
  {
    name: 'a cooldown is seen by the other process, which goes to the next candidate',
    run: otherAvoids,
    ofSeveral: true,
  },
  { name: 'a cooling endpoint does not delay a request that another can serve now', run: idleServes },
  { name: 'a request waits for a cooling endpoint within its budget', run: waitsWithin },
  { name: 'beyond the budget it gets 429 with the time to come back', run: refusedBeyond },
  { name: 'the other process refuses beyond the budget as well', run: otherRefuses, ofSeveral: true },
  { name: 'at the time it was told to come back it is served', run: servedAfterwards },
  { name: 'no more candidates are tried than the bound allows', run: attemptsAreBounded },
  { name: 'when every candidate fails the last one’s own words are passed on', run: lastWordsPass },
];

async function otherAvoids(fleet: Fleet): Promise<void> {
  const { first, second, laneName } = await pairOf(fleet, 'other avoids', { fallback: true, waitMsMax: 0 });
  throttle(fleet, first, '30');
  const served = await ask(fleet, fleet.matrix.url, laneName);
  assert.equal(served.headers['x-relay-selected-endpoint-id'], second.id);
  assert.equal(served.headers['x-relay-fallback-count'], '1');
  await eventually(async () => {
    const answer = await ask(fleet, fleet.otherUrl, laneName);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['x-relay-selected-endpoint-id'], second.id);
    // Skipped from the start, not tried first.
    assert.equal(answer.headers['x-relay-fallback-count'], '0');
  });
}

async function idleServes(fleet: Fleet): Promise<void> {
  const { first, second, laneName } = await pairOf(fleet, 'idle serves', {
    fallback: true,
    waitMsMax: 10_000,
  });
  throttle(fleet, first, '6');
  await ask(fleet, fleet.matrix.url, laneName);
  const answer = await ask(fleet, fleet.matrix.url, laneName);
  assert.equal(answer.headers['x-relay-selected-endpoint-id'], second.id);
  assert.equal(answer.headers['x-relay-fallback-count'], '0');
  assert.equal(answer.headers['x-relay-wait-ms'], '0');
  assert.equal(requestsSeen(fleet, first), 1);
}

async function waitsWithin(fleet: Fleet): Promise<void> {
  const { first, laneName } = await pairOf(fleet, 'waits within', {
    fallback: false,
    waitMsMax: 10_000,
    alone: true,
  });
  throttle(fleet, first, '1');
  const startMs = performance.now();
  // The throttled request itself waits and is sent again.
  const answer = await ask(fleet, fleet.matrix.url, laneName);
  const tookMs = performance.now() - startMs;
  assert.equal(answer.status, 200);
  const waitMs = Number(answer.headers['x-relay-wait-ms']);
  assert.ok(waitMs > 500 && waitMs <= tookMs, `waited ${waitMs} of ${tookMs} ms`);
  const row = await fleet.matrix.ledger.row({ requestId: answer.headers['x-request-id'] ?? '' });
  assert.equal(row.wait_ms, waitMs);
  assert.equal(row.state, 'completed');
  assert.equal(requestsSeen(fleet, first), 2);
}

async function refusedBeyond(fleet: Fleet): Promise<void> {
  const { first, laneName } = await pairOf(fleet, 'refused beyond', {
    fallback: false,
    waitMsMax: 50,
    alone: true,
  });
  throttle(fleet, first, '20');
  await ask(fleet, fleet.matrix.url, laneName);
  const answer = await ask(fleet, fleet.matrix.url, laneName);
  checkWaitBudgetRefusal(answer, 20);
  assert.equal(requestsSeen(fleet, first), 1);
  const row = await fleet.matrix.ledger.row({ requestId: answer.headers['x-request-id'] ?? '' });
  assert.deepEqual(
    {
      state: row.state,
      status: row.status,
      code: row.error_code,
      attempts: row.attempts,
      usage: row.usage_source,
    },
    { state: 'failed', status: 429, code: 'rate_limit_wait_budget_exceeded', attempts: [], usage: 'none' },
  );
}

async function otherRefuses(fleet: Fleet): Promise<void> {
  const { first, laneName } = await pairOf(fleet, 'other refuses', {
    fallback: false,
    waitMsMax: 0,
    alone: true,
  });
  await eventually(async () => assert.equal((await ask(fleet, fleet.otherUrl, laneName)).status, 200));
  throttle(fleet, first, '20');
  assert.equal((await ask(fleet, fleet.matrix.url, laneName)).status, 429);
  await eventually(async () => checkWaitBudgetRefusal(await ask(fleet, fleet.otherUrl, laneName), 20));
}

async function servedAfterwards(fleet: Fleet): Promise<void> {
  const { first, laneName } = await pairOf(fleet, 'served after', {
    fallback: false,
    waitMsMax: 0,
    alone: true,
  });
  throttle(fleet, first, '2');
  await ask(fleet, fleet.matrix.url, laneName);
  const refused = await ask(fleet, fleet.matrix.url, laneName);
  checkWaitBudgetRefusal(refused, 2);
  await new Promise((resolve) => setTimeout(resolve, Number(refused.headers['retry-after-ms'])));
  const served = await ask(fleet, fleet.matrix.url, laneName);
  assert.equal(served.status, 200);
  assert.equal(served.headers['x-relay-wait-ms'], '0');
}

/** The deployment allows four; the lane offers five, of which only the last would answer. */
async function attemptsAreBounded(fleet: Fleet): Promise<void> {
  const endpoints = await Promise.all(
    [1, 2, 3, 4, 5].map((rank) =>
      createEndpoint(fleet.admin, fleet.firstProviderId, `bounded ${rank}`, FIRST_MODEL, {}),
    ),
  );
  const lane = await createLaneOf(fleet.admin, 'bounded', true, endpoints);
  for (const { key } of endpoints.slice(0, 4)) {
    fleet.matrix.first.script({ match: { key }, fault: { status: 503 } });
  }
  const answer = await ask(fleet, fleet.matrix.url, lane.name);
  assert.equal(answer.status, 503);
  assert.equal(answer.headers['x-relay-error-source'], 'upstream');
  assert.equal(answer.headers['x-relay-fallback-count'], '3');
  assert.deepEqual(
    endpoints.map((endpoint) => requestsSeen(fleet, endpoint)),
    [1, 1, 1, 1, 0],
  );
  const row = await fleet.matrix.ledger.row({ requestId: answer.headers['x-request-id'] ?? '' });
  assert.deepEqual(
    row.attempts.map(({ endpoint_id }) => endpoint_id),
    endpoints.slice(0, 4).map(({ id }) => id),
  );
  assert.equal(row.fallback_count, 3);
}

async function lastWordsPass(fleet: Fleet): Promise<void> {
  const { first, second, laneName } = await pairOf(fleet, 'last words', { fallback: true, waitMsMax: 0 });
  fleet.matrix.first.script({ match: { key: first.key }, fault: { status: 500 } });
  const words = { status: 429, body: { error: { message: 'The last word.' } } };
  fleet.matrix.second.script({ match: { key: second.key }, fault: words });
  const answer = await ask(fleet, fleet.matrix.url, laneName);
  assert.equal(answer.status, 429);
  assert.equal(answer.body.toString(), JSON.stringify(words.body));
  assert.equal(answer.headers['x-relay-error-source'], 'upstream');
  assert.equal(answer.headers['x-relay-selected-endpoint-id'], second.id);
  assert.equal(answer.headers['x-relay-fallback-count'], '1');
}

interface Pair {
  readonly first: SlotEndpoint;
  readonly second: SlotEndpoint;
  readonly laneName: string;
}

/** Creates endpoints for this cell alone, so that its cooldowns do not affect other cells. */
async function pairOf(
  { admin, firstProviderId, secondProviderId }: Fleet,
  name: string,
  lane: { fallback: boolean; waitMsMax: number; alone?: boolean },
): Promise<Pair> {
  const [first, second] = await Promise.all([
    createEndpoint(admin, firstProviderId, `${name} first`, FIRST_MODEL, {}),
    createEndpoint(admin, secondProviderId, `${name} second`, SECOND_MODEL, {}),
  ]);
  const members = lane.alone === true ? [first] : [first, second];
  const { name: laneName } = await createLaneOf(admin, name, lane.fallback, members, lane.waitMsMax);
  return { first, second, laneName };
}

function throttle({ matrix }: Fleet, endpoint: SlotEndpoint, retryAfter: string): void {
  matrix.first.script({ match: { key: endpoint.key }, fault: { status: 429, retryAfter } });
}

function ask({ matrix }: Fleet, url: string, laneName: string): Promise<RawAnswer> {
  return exchangeRaw({
    url: `${url}/v1/chat/completions`,
    headers: { authorization: `Bearer ${matrix.apiToken}` },
    body: requestText(modes.chat, laneName, 'Is it quiet?'),
    agent: matrix.agent,
  });
}

function requestsSeen({ matrix }: Fleet, endpoint: SlotEndpoint): number {
  return matrix.first.log.filter(({ key }) => key === endpoint.key).length;
}

/** The other process reads configuration and cooldowns in turns of its own. */
async function eventually(check: () => Promise<void>): Promise<void> {
  const deadlineMs = performance.now() + SEEN_MS_MAX;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
