import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { RequestLogEntry, Timeseries, UsageStatement } from '@relay/contract';
import { IS_LONG } from '@relay/testbed/long-form';
import { createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { exchangeRaw } from '../harness/raw-exchange.ts';
import { readRequestLog } from '../harness/request-log.ts';
import { until } from '../harness/until.ts';
import { addRandomRows } from './random-rows.ts';
import { type RecordedProvider, startRecordedProvider } from './recorded-provider.ts';
import { picos, prices, type RecordedUsage, recordedUsages } from './recorded-usages.ts';

// What providers report, against bills that were computed apart from Relay, to 10⁻¹² dollar. With RELAY_SYSTEM_LONG=1 the sums are of a
// million rows.

const ROWS_PER_MONTH = 50_000;
const MONTHS = IS_LONG ? 20 : 1;
const SEED = BigInt(process.env['RELAY_PRICES_SEED'] ?? Date.now());
const ROWS_MS_MAX = 20_000;
const SCHEDULED_MS = 3_000;
const ONLY_FLAT = { input_cost_micros_per_1m_tokens: 0, output_cost_micros_per_1m_tokens: 0 };
const PATHS = {
  chat: 'chat/completions',
  responses: 'responses',
  messages: 'messages',
  embeddings: 'embeddings',
};

let deployment: Deployment;
let provider: RecordedProvider;
let [off, sumOff] = [0, 0];

before(async () => {
  [deployment, provider] = await Promise.all([startDeployment(), startRecordedProvider()]);
  for (const [name, price] of Object.entries(prices)) {
    const isMessages = recordedUsages.some((each) => each.price === name && each.protocol === 'messages');
    const { endpointIds } = await createLane(deployment.admin, {
      name,
      endpoints: [
        {
          baseUrl: provider.baseUrl,
          upstreamModel: 'recorded',
          ...(isMessages && { endpoint: { protocol: 'anthropic', route_kind: 'messages' } }),
        },
      ],
    });
    for (const endpoint_id of endpointIds)
      await deployment.admin.create('/api/relay/pricing-policies', { endpoint_id, ...price });
  }
});

after(async () => {
  reportFigures({
    usages: recordedUsages.length,
    off,
    sum_off: sumOff,
    rows: MONTHS * ROWS_PER_MONTH,
    seed: String(SEED),
  });
  await deployment.stop();
  await provider.stop();
});

/** Returns the cost in the headers, which a stream does not have. */
async function use({ id, protocol, stream, price }: RecordedUsage): Promise<string | undefined> {
  const said = `usage ${id}`;
  const content =
    protocol === 'chat' || protocol === 'messages'
      ? { messages: [{ role: 'user', content: said }], max_tokens: 100 }
      : { input: said };
  const { status, headers, body } = await exchangeRaw({
    url: `${deployment.url}/v1/${PATHS[protocol]}`,
    headers: { authorization: `Bearer ${deployment.apiToken}`, 'x-request-id': id },
    body: JSON.stringify({ model: price, ...content, ...(protocol !== 'embeddings' && { stream }) }),
  });
  assert.equal(status, 200, `${id}: ${body.toString()}`);
  return headers['x-relay-actual-cost-micros']?.toString();
}

async function read<T>(path: string): Promise<T> {
  const { status, body } = await deployment.admin.call('GET', path);
  assert.equal(status, 200, JSON.stringify(body));
  return body as T;
}

const halfUp = (amount: bigint) => Number((amount + 500_000n) / 1_000_000n);

function faultsOf(
  recorded: RecordedUsage,
  header: string | undefined,
  row: RequestLogEntry | undefined,
): string[] {
  const shown = halfUp(picos(recorded.bill));
  const seen = { usd: row?.cost_usd, micros: row?.cost_micros, header: recorded.stream ? undefined : header };
  const expected = { usd: recorded.bill, micros: shown, header: recorded.stream ? undefined : String(shown) };
  const what = `${recorded.id} ${recorded.shape}${recorded.stream ? ', stream' : ''}`;
  const isRight = JSON.stringify(seen) === JSON.stringify(expected);
  return isRight ? [] : [`${what}: ${JSON.stringify(seen)}, not ${JSON.stringify(expected)}`];
}

describe('what requests cost', { concurrency: 1 }, () => {
  it('is the provider’s bill, to the last 10⁻¹² dollar, whatever its usage looks like', async () => {
    assert.ok(recordedUsages.length >= 150);
    const headers = new Map<string, string | undefined>();
    for (const recorded of recordedUsages) headers.set(recorded.id, await use(recorded));
    let rows: RequestLogEntry[] = [];
    await until(async () => {
      rows = await readRequestLog(deployment.admin);
      return rows.length >= recordedUsages.length;
    }, ROWS_MS_MAX);
    const faults = recordedUsages.flatMap((recorded) => {
      const row = rows.find(({ client_request_id }) => client_request_id === recorded.id);
      return faultsOf(recorded, headers.get(recorded.id), row);
    });
    off = faults.length;
    assert.deepEqual(faults, []);
  });

  it('is summed without loss, in statistics and in the statement', async () => {
    const bills = recordedUsages.reduce((sum, { bill }) => sum + picos(bill), 0n);
    const { series } = await read<Timeseries>('/api/relay/stats/timeseries?metric=cost_micros&bucket=minute');
    const { totals } = await read<UsageStatement>('/api/billing/usage-statements');
    const seen = [series[0]?.total_usd, totals.metered_spend_usd].map((sum) => picos(sum ?? '0'));
    sumOff += seen.filter((sum) => sum !== bills).length;
    assert.deepEqual(seen, [bills, bills]);
    assert.equal(totals.metered_spend_micros, halfUp(bills));
  });

  it('follows a scheduled price in a running gateway, for requests that arrive from then on', async () => {
    const { endpointIds } = await createLane(deployment.admin, {
      name: 'scheduled',
      endpoints: [{ baseUrl: provider.baseUrl, upstreamModel: 'recorded' }],
    });
    const [endpoint_id = ''] = endpointIds;
    const validFromMs = Date.now() + SCHEDULED_MS;
    await deployment.admin.create('/api/relay/pricing-policies', {
      endpoint_id,
      ...ONLY_FLAT,
      flat_request_cost_micros: 100,
      scheduled: [
        { valid_from: new Date(validFromMs).toISOString(), ...ONLY_FLAT, flat_request_cost_micros: 700 },
      ],
    });
    const recorded = recordedUsages.find(({ protocol, stream }) => protocol === 'chat' && !stream);
    assert.ok(recorded !== undefined);
    const seen: { atMs: number; cost: string | undefined }[] = [];
    await until(async () => {
      seen.push({ atMs: Date.now(), cost: await use({ ...recorded, price: 'scheduled' }) });
      return seen.at(-1)?.cost === '700';
    }, SCHEDULED_MS + ROWS_MS_MAX);
    const early = seen.filter(({ atMs }) => atMs < validFromMs - 1_000);
    assert.ok(early.length > 0 && early.every(({ cost }) => cost === '100'), JSON.stringify(early));
    assert.deepEqual(new Set(seen.map(({ cost }) => cost)), new Set(['100', '700']));
  });

  it(`is summed without loss over ${MONTHS * ROWS_PER_MONTH} random rows`, async () => {
    const now = new Date();
    for (let back = 1; back <= MONTHS; back += 1) {
      const start = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back));
      const month = start.toISOString().slice(0, 7);
      const seed = SEED + BigInt(back);
      const sum = await addRandomRows(deployment.postgres.url, { count: ROWS_PER_MONTH, seed, month });
      const { totals } = await read<UsageStatement>(`/api/billing/usage-statements?month=${month}`);
      assert.equal(totals.metered_requests, ROWS_PER_MONTH);
      const seen = picos(totals.metered_spend_usd ?? '0');
      if (seen !== sum) sumOff += 1;
      assert.equal(seen, sum, `${month}, seed ${SEED}`);
    }
  });
});
