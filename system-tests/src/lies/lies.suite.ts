import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { compileValidator, type RequestLogEntry, routes } from '@relay/contract';
import type { Fault } from '@relay/provider-sim';
import { createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { type ModeName, modes, pathOf } from '../harness/mode.ts';
import { exchangeRaw } from '../harness/raw-exchange.ts';
import { readRequestLog } from '../harness/request-log.ts';
import { until } from '../harness/until.ts';

// A provider that lies about what it used. Whatever it says, the client gets its answer, the request has one row with counts that
// can be added up, and everything that reads the ledger stays readable.

/** More than this is charged to no request of an endpoint without a context window. */
const USAGE_MAX = 10_000_000;
const HUGE = Number.MAX_SAFE_INTEGER;
const LANE = 'lies';
const ROWS_MS_MAX = 20_000;

interface Lie {
  readonly name: string;
  readonly sim: Fault;
  /** What the row says of its usage. */
  readonly expect: (row: RequestLogEntry, counted: Counted) => void;
}

interface Counted {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

const believed =
  (input: number | null, output: number | null) =>
  (row: RequestLogEntry, counted: Counted): void => {
    assert.equal(row.input_tokens, input ?? counted.promptTokens);
    assert.equal(row.output_tokens, output ?? counted.completionTokens);
  };

/** A count that is none is as if it were absent. */
const estimated = (row: RequestLogEntry): void => assert.equal(row.usage_source, 'estimated');

/** No model uses as much, so no more than the bound is charged. */
const bounded = (row: RequestLogEntry): void => {
  assert.equal((row.input_tokens ?? 0) + (row.output_tokens ?? 0), USAGE_MAX);
};

const lies: readonly Lie[] = [
  { name: 'the truth', sim: {}, expect: believed(null, null) },
  { name: 'too high', sim: { claimedInput: 5_000, claimedOutput: 7_000 }, expect: believed(5_000, 7_000) },
  { name: 'too low', sim: { claimedInput: 1, claimedOutput: 0 }, expect: believed(1, 0) },
  { name: 'absent', sim: { noUsage: true }, expect: estimated },
  { name: 'zero', sim: { zeroUsage: true }, expect: believed(0, 0) },
  { name: 'negative input', sim: { claimedInput: -5 }, expect: estimated },
  { name: 'fractional input', sim: { claimedInput: 1.5 }, expect: estimated },
  { name: 'beyond 2^53', sim: { claimedInput: 1e300 }, expect: bounded },
  { name: 'huge', sim: { claimedInput: HUGE, claimedOutput: HUGE }, expect: bounded },
  { name: 'huge output', sim: { claimedOutput: HUGE }, expect: bounded },
  { name: 'twice', sim: { usageTwice: true }, expect: believed(null, null) },
];

const asked: readonly ModeName[] = ['chat', 'chat stream', 'responses', 'responses stream'];

let deployment: Deployment;
let [told, wrong] = [0, 0];

before(async () => {
  deployment = await startDeployment();
  const { admin, provider } = deployment;
  const { endpointIds } = await createLane(admin, {
    name: LANE,
    endpoints: [{ baseUrl: provider.baseUrl, upstreamModel: 'sim-multi' }],
  });
  const prices = { input_cost_micros_per_1m_tokens: 1_000_000, output_cost_micros_per_1m_tokens: 4_000_000 };
  for (const endpoint_id of endpointIds)
    await admin.create('/api/relay/pricing-policies', { endpoint_id, currency: 'USD', ...prices });
  await admin.create('/api/relay/limit-policies', {
    ...{ scope_type: 'global', metric: 'tokens', period: 'day', limit_value: HUGE, enabled: true },
  });
});

after(async () => {
  reportFigures({ lies: told, wrong });
  await deployment.stop();
});

async function tell(mode: ModeName, lie: Lie): Promise<void> {
  const tag = `${lie.name}, ${mode}`;
  const { operation, streaming } = modes[mode];
  const said = operation === 'chat' ? { messages: [{ role: 'user', content: 'hello' }] } : { input: 'hello' };
  const body = JSON.stringify({ model: LANE, ...said, stream: streaming, sim: { ...lie.sim, tag } });
  const answer = await exchangeRaw({
    url: `${deployment.url}/v1${pathOf(modes[mode])}`,
    headers: { authorization: `Bearer ${deployment.apiToken}`, 'x-request-id': tag },
    body,
  });
  assert.equal(answer.status, 200, answer.body.toString());
  assert.ok(answer.whole);
}

async function rowsWhenWritten(count: number): Promise<RequestLogEntry[]> {
  let rows: RequestLogEntry[] = [];
  await until(async () => {
    rows = await readRequestLog(deployment.admin);
    return rows.length >= count;
  }, ROWS_MS_MAX);
  return rows;
}

function judge(lie: Lie, mode: ModeName, rows: readonly RequestLogEntry[]): void {
  const tag = `${lie.name}, ${mode}`;
  const [row, ...more] = rows.filter(({ client_request_id }) => client_request_id === tag);
  assert.ok(row !== undefined, `${tag}: no row`);
  assert.equal(more.length, 0, `${tag}: several rows`);
  assert.equal(row.state, 'completed', tag);
  for (const count of [row.input_tokens, row.output_tokens, row.cached_input_tokens, row.cost_micros])
    assert.ok(count === null || (Number.isSafeInteger(count) && count >= 0), `${tag}: ${count}`);
  assert.ok(
    (row.input_tokens ?? 0) <= USAGE_MAX && (row.output_tokens ?? 0) <= USAGE_MAX,
    `${tag}: more than the bound`,
  );
  const entry = deployment.provider.log.find(({ fault }) => fault?.tag === tag);
  assert.ok(entry !== undefined);
  lie.expect(row, entry);
}

describe('a provider that lies about its usage', () => {
  it('gets its answers through, and every request has one row that can be added up', async () => {
    const cells = lies.flatMap((lie) => asked.map((mode) => ({ lie, mode })));
    for (const { lie, mode } of cells) await tell(mode, lie);
    told = cells.length;
    const rows = await rowsWhenWritten(cells.length);
    const faults = cells.flatMap(({ lie, mode }) => {
      try {
        judge(lie, mode, rows);
        return [];
      } catch (error) {
        return [error instanceof Error ? `${lie.name}, ${mode}: ${error.message}` : String(error)];
      }
    });
    wrong = faults.length;
    assert.deepEqual(faults, []);
  });

  it('is paid for its text when a stream of large frames is cut before its usage', async () => {
    const tag = 'cut';
    await exchangeRaw({
      url: `${deployment.url}/v1/chat/completions`,
      headers: { authorization: `Bearer ${deployment.apiToken}`, 'x-request-id': tag },
      body: JSON.stringify({
        model: LANE,
        messages: [{ role: 'user', content: 'hello' }],
        stream: true,
        sim: { tag, frames: 10, frameBytes: 2_000, cutAfterFrames: 9 },
      }),
    });
    const rows = await rowsWhenWritten(told + 1);
    const [row, ...more] = rows.filter(({ client_request_id }) => client_request_id === tag);
    assert.equal(more.length, 0);
    assert.equal(row?.usage_source, 'estimated');
    const output = row?.output_tokens ?? 0;
    // 8 frames of content, of 500 tokens each by their bytes.
    assert.ok(output > 8 * 300 && output < 8 * 600, String(output));
  });

  it('leaves the log, the sums and the limits readable', async () => {
    for (const [path, route] of [
      ['/api/relay/requests?limit=1000', routes.listRequests],
      ['/api/relay/stats/summary', routes.getStatsSummary],
      ['/api/relay/stats/timeseries?metric=total_tokens', routes.getTimeseries],
      ['/api/relay/limits/usage', routes.listLimitUsage],
      ['/api/relay/live', routes.getLive],
    ] as const) {
      const { status, body } = await deployment.admin.call('GET', path);
      assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
      assert.deepEqual(compileValidator(route.success.schema)(body), { ok: true }, path);
    }
  });
});
