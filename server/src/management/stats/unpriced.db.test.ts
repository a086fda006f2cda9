import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { sampleRow } from '../../store/ledger/ledger-row.fixture.ts';
import { addOneOfEach, type ManagementFixture, startManagement } from '../fixture.ts';
import { idAt, recordRequests } from '../requests/ledger.fixture.ts';

const NOW_MS = Date.parse('2026-11-16T12:00:00.000Z');
const HOUR_MS = 3_600_000;
const UNPRICED = 4;

/** Every object in a response that has a sum of costs: the fields of money, and `unpriced_requests`. */
function* sumsIn(value: unknown): Generator<Record<string, unknown>> {
  if (Array.isArray(value)) for (const item of value) yield* sumsIn(item);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const entries = Object.entries(value);
  const money = entries.filter(([field]) =>
    /^(metered_spend|cost|fallback_cost|total|value)_(micros|usd)$/.test(field),
  );
  if (money.length > 0)
    yield { ...Object.fromEntries(money), unpriced: Reflect.get(value, 'unpriced_requests') };
  for (const [, item] of entries) yield* sumsIn(item);
}

describe('the cost of requests without a price', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;

  before(async () => {
    database = await freshDatabase();
    const clock = { nowMs: () => NOW_MS, monotonicMs: () => NOW_MS };
    room = await startManagement(database.url, { clock });
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  /** In acme all requests have no price, in globex there is one that does. */
  async function recorded(): Promise<void> {
    for (const owner of [room.acme, room.globex]) {
      const { endpoint, provider } = await addOneOfEach(room, owner, 'One');
      const { body: unpriced } = await room.call('createEndpoint', owner, {
        body: { provider_id: provider.id, name: 'Two', upstream_model: 'two', route_kind: 'multi' },
      });
      const { body: team } = await room.call('createTeam', owner, { body: { name: 'Search' } });
      const micros = owner === room.acme ? [] : [700];
      const costs = [...micros, ...Array.from({ length: UNPRICED }, () => 0)];
      await recordRequests(
        room.db,
        costs.map((cost, number) =>
          sampleRow({
            request_id: idAt(NOW_MS - HOUR_MS, number + (owner === room.acme ? 0 : 100)),
            organization_id: owner.organizationId,
            user_id: owner.userId,
            endpoint_id: cost === 0 ? unpriced.id : endpoint.id,
            provider_id: provider.id,
            team_id: team.id,
            labels: { app: 'search' },
            usage_source: 'reported',
            actual_cost_micros: cost,
            actual_cost_rounding_picos: 0,
          }),
        ),
      );
    }
  }

  const range = { from: '2026-11-16T00:00:00.000Z', to: '2026-11-17T00:00:00.000Z' };

  /** Every response with sums of costs, by what was asked. */
  async function answers(caller = room.acme): Promise<Readonly<Record<string, unknown>>> {
    const found: Record<string, unknown> = {};
    for (const group_by of ['team', 'key', 'member', 'model', 'label:app'])
      found[`showback by ${group_by}`] = (
        await room.call('getShowback', caller, { query: { ...range, group_by } })
      ).body;
    for (const metric of ['cost_micros', 'fallback_cost_micros'] as const)
      for (const group_by of ['none', 'lane', 'endpoint', 'provider', 'model', 'api_key', 'user'] as const) {
        const query = { ...range, metric, group_by, bucket: 'day' } as const;
        found[`${metric} by ${group_by}`] = (await room.call('getTimeseries', caller, { query })).body;
      }
    for (const route of ['getEndpointStats', 'getLaneStats', 'getApiKeyStats'] as const)
      found[route] = (await room.call(route, caller, { query: {} })).body;
    found['spend'] = (await room.call('getSpend', caller)).body;
    found['metered'] = (await room.call('getMeteredUsage', caller, { query: range })).body;
    found['statement'] = (await room.call('getUsageStatement', caller, { query: { month: '2026-11' } })).body;
    return found;
  }

  it('is null in every sum, which says how many there are', async () => {
    await recorded();
    for (const [asked, answer] of Object.entries(await answers())) {
      const sums = [...sumsIn(answer)].filter(({ unpriced }) => unpriced !== 0);
      assert.ok(sums.length > 0, asked);
      for (const { unpriced, ...money } of sums) {
        assert.equal(unpriced, UNPRICED, asked);
        for (const [field, amount] of Object.entries(money)) assert.equal(amount, null, `${asked}: ${field}`);
      }
    }
    const { month } = (await room.call('getSpend', room.acme)).body;
    assert.deepEqual([month.forecast_micros, month.days.at(-1), month.days[0]], [null, null, 0]);
    const series = await room.call('getTimeseries', room.acme, {
      query: { ...range, metric: 'cost_micros', bucket: 'day' },
    });
    assert.deepEqual(series.body.series[0]?.total, null);
  });

  it('is left out of the sums of others, which say how many they leave out', async () => {
    const { body: showback } = await room.call('getShowback', room.globex, { query: range });
    assert.deepEqual(
      showback.lines.map((line) => [
        line.label,
        line.cost_micros,
        line.unpriced_requests,
        line.metered_requests,
      ]),
      [['Search', 700, UNPRICED, UNPRICED + 1]],
    );
    assert.deepEqual([showback.total.cost_usd, showback.total.unpriced_requests], ['0.0007', UNPRICED]);
    const query = { ...range, metric: 'cost_micros', group_by: 'endpoint' } as const;
    const { series } = (await room.call('getTimeseries', room.globex, { query })).body;
    assert.deepEqual(
      series.map(({ total, unpriced_requests: unpriced }) => [total, unpriced]),
      [
        [700, 0],
        [null, UNPRICED],
      ],
    );
  });

  async function csvOf(format: { readonly format?: 'focus' }): Promise<string> {
    const { body } = await room.call('exportShowback', room.acme, { query: { ...range, ...format } });
    let text = '';
    for await (const chunk of (body as unknown as { chunks: AsyncIterable<string> }).chunks) text += chunk;
    return text;
  }

  it('is empty in the CSV of the showback, and 0 in FOCUS, whose lines count the requests', async () => {
    const csv = await csvOf({});
    const [head = '', line = ''] = csv.split('\r\n');
    assert.ok(head.endsWith('cost_micros,cost_usd,unpriced_requests'), head);
    assert.ok(line.endsWith(`,,,${UNPRICED}`), line);
    const focus = await csvOf({ format: 'focus' });
    const [columns = '', row = ''] = focus.split('\r\n');
    assert.equal(columns.split(',').at(-1), 'x_UnpricedRequests');
    assert.equal(row.split(',').at(-1), String(UNPRICED));
  });
});
