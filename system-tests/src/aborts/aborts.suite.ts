import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { RequestLogEntry } from '@relay/contract';
import { createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { readRequestLog } from '../harness/request-log.ts';
import { afterMs } from '../harness/until.ts';
import { abortAtFrame, FRAMES, type StreamKind } from './abort-at-frame.ts';
import { type BilledRow, judgeBilling, type Verdict } from './billed.ts';

// Relay bills an aborted stream for the work done so far, at any frame: not zero, and not more.

const KINDS: readonly StreamKind[] = ['chat', 'responses'];
const TIMES_EACH = 5;
const AT_ONCE = 16;
const ROWS_MS_MAX = 60_000;
const LANE = 'aborted';
const PRICES = { input_cost_micros_per_1m_tokens: 1_000_000, output_cost_micros_per_1m_tokens: 4_000_000 };

let deployment: Deployment;
const tags: string[] = [];
let verdict: Verdict = { zeroBilled: [], overBilled: [], missing: [] };
let rows: BilledRow[] = [];

before(async () => {
  deployment = await startDeployment();
  const { admin, provider } = deployment;
  const { endpointIds } = await createLane(admin, {
    name: LANE,
    endpoints: [{ baseUrl: provider.baseUrl, upstreamModel: 'sim-chat' }],
  });
  for (const endpoint_id of endpointIds)
    await admin.create('/api/relay/pricing-policies', { endpoint_id, currency: 'USD', ...PRICES });
});
after(async () => {
  reportFigures({
    aborts: tags.length,
    zero_billed: verdict.zeroBilled.length,
    over_billed: verdict.overBilled.length,
    missing: verdict.missing.length,
    reported_rows: rows.filter(({ usageSource }) => usageSource === 'reported').length,
    cancelled_rows: rows.filter(({ state }) => state === 'cancelled').length,
  });
  await deployment.stop();
});

async function abortAll(): Promise<void> {
  const todo = Array.from({ length: FRAMES * TIMES_EACH }, (_, index) =>
    KINDS.map((kind) => ({ kind, frame: (index % FRAMES) + 1, tag: `abort-${kind}-${index}` })),
  ).flat();
  const { url, apiToken: token } = deployment;
  async function client(): Promise<void> {
    for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
      tags.push(next.tag);
      await abortAtFrame({ url, token, model: LANE, ...next });
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, client));
}

/** Waits until every request has a row, or no more rows arrive. */
async function readRows(): Promise<BilledRow[]> {
  const endMs = performance.now() + ROWS_MS_MAX;
  for (;;) {
    const found = await readRequestLog(deployment.admin);
    if (found.length >= tags.length || performance.now() > endMs) return found.map(billedRow);
    await afterMs(200);
  }
}

function billedRow(entry: RequestLogEntry): BilledRow {
  return {
    tag: entry.client_request_id ?? '',
    state: entry.state,
    usageSource: entry.usage_source,
    inputTokens: entry.input_tokens ?? 0,
    outputTokens: entry.output_tokens ?? 0,
    costMicros: entry.cost_micros ?? 0,
  };
}

describe('a thousand clients that hang up, ten at each frame of a stream', () => {
  it('are all met, and each has its row', async () => {
    await abortAll();
    assert.equal(tags.length, KINDS.length * TIMES_EACH * FRAMES);
    rows = await readRows();
    verdict = judgeBilling(tags, rows, deployment.provider.log);
    assert.deepEqual(verdict.missing, []);
    assert.equal(rows.length, tags.length);
  });

  it('are billed for what they asked and for what they got', () => {
    assert.deepEqual(verdict.zeroBilled, []);
  });

  it('are not billed for more output than the provider wrote, nor for more than its input besides', () => {
    assert.deepEqual(verdict.overBilled, []);
  });
});
