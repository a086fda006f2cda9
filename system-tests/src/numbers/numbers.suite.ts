import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type {
  LimitUsage,
  MeteredUsage,
  RequestLogEntry,
  Showback,
  StatsSummary,
  Timeseries,
  UsageStatement,
  WaitDistribution,
} from '@relay/contract';
import { reportFigures } from '../harness/figures.ts';
import { type LedgerView, openLedgerView } from '../harness/ledger-view.ts';
import { readRequestLog } from '../harness/request-log.ts';
import { until } from '../harness/until.ts';
import {
  bucketOf,
  type Counted,
  groups,
  type LedgerAttempt,
  type LedgerRow,
  measures,
  partOf,
  picosOf,
  pricedPicos,
  readCounted,
} from './ledger-figures.ts';
import { sendTraffic, type Traffic } from './traffic.ts';

// Every figure that the API gives to pages, against the same figure computed from rows of the ledger that SQL read. The seed repeats the
// traffic: RELAY_NUMBERS_SEED.

const SEED = Number(process.env['RELAY_NUMBERS_SEED'] ?? Date.now() % 1_000_000);
const ROWS_MS_MAX = 20_000;
const SIZE_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
const METRICS = Object.keys(measures) as Timeseries['metric'][];
const GROUPS = Object.entries(groups) as [keyof typeof groups, (typeof groups)[keyof typeof groups]][];
/** What a slider stops at, and what people type. */
const BUDGETS_MS = [0, 1, 100, 333, 400, 999, 1_000, 1_100, 1_500, 1_900, 2_000, 2_500, 5_000, 60_000];

let traffic: Traffic;
let ledger: LedgerView;
let all: Counted;
let rows: readonly LedgerRow[];
let pages = 0;
const differences: string[] = [];

before(async () => {
  traffic = await sendTraffic(SEED);
  ledger = openLedgerView(traffic.deployment.postgres.url);
  const sent = traffic.answers.length;
  assert.ok(
    await until(async () => (await readCounted(ledger)).rows.length >= sent, ROWS_MS_MAX),
    'every request has a row',
  );
  all = await readCounted(ledger);
  ({ rows } = all);
});
after(async () => {
  reportFigures({ pages, differences: differences.length, seed: SEED, rows: rows?.length ?? 0 });
  await ledger?.close();
  await traffic?.stop();
});

/** One page of figures. */
async function read<T>(path: string): Promise<T> {
  const { status, body } = await traffic.deployment.admin.call('GET', path);
  assert.equal(status, 200, JSON.stringify(body));
  pages += 1;
  return body as T;
}

function compare(what: string, seen: unknown, expected: unknown): void {
  const [shown, right] = [JSON.stringify(seen), JSON.stringify(expected)];
  if (shown !== right) differences.push(`${what}: ${shown}, but the ledger has ${right}`);
}

function assertSame(from: number): void {
  assert.deepEqual(differences.slice(from), []);
}

function compareSeries(
  what: string,
  series: Timeseries['series'][number],
  own: Counted,
  timeseries: Timeseries,
) {
  const { metric, bucket } = timeseries;
  compare(`${what}, total`, series.total, measures[metric](own));
  if (metric === 'cost_micros')
    compare(`${what}, USD`, picosIn(series.total_usd), pricedPicos(own.attempts)?.toString() ?? null);
  for (const { at, value } of series.points)
    compare(`${what} at ${at}`, value, measures[metric](bucketOf(own, Date.parse(at), SIZE_MS[bucket])));
}

/** Dollars as a decimal number, in 10⁻¹². */
function picosIn(usd: string | null | undefined): string | null {
  if (usd === null || usd === undefined) return null;
  const [whole = '0', part = ''] = usd.split('.');
  return String(BigInt(whole) * 1_000_000_000_000n + BigInt(part.padEnd(12, '0')));
}

describe('numbers', { concurrency: 1 }, () => {
  it('the traffic has waits, waits past the budget or rejections, failures, fallbacks, streams and all kinds of prices', () => {
    const has = (condition: (row: LedgerRow) => boolean) => rows.some(condition);
    assert.ok(has(({ wait_ms }) => wait_ms > 1_000));
    assert.ok(has(({ endpoint_id }) => endpoint_id === null));
    assert.ok(has(({ fallback_count }) => fallback_count > 0));
    assert.ok(has(({ state }) => state === 'failed') && has(({ state }) => state === 'cancelled'));
    const hasAttempt = (condition: (attempt: LedgerAttempt) => boolean) => all.attempts.some(condition);
    assert.ok(hasAttempt(({ is_followed, metered }) => is_followed && metered));
    assert.ok(hasAttempt(({ metered, picos }) => metered && picos === '0'));
    assert.ok(hasAttempt(({ picos }) => picos !== '0'));
  });

  for (const bucket of ['minute', 'hour', 'day'] as const)
    it(`statistics by ${bucket} are those of the rows, for every metric`, async () => {
      const from = differences.length;
      await Promise.all(
        METRICS.map(async (metric) => {
          const whole = await read<Timeseries>(
            `/api/relay/stats/timeseries?metric=${metric}&bucket=${bucket}`,
          );
          for (const series of whole.series) compareSeries(metric, series, all, whole);
        }),
      );
      assertSame(from);
    });

  for (const [group_by, groupOf] of GROUPS)
    it(`statistics by ${group_by} are those of the rows, for every metric`, async () => {
      const from = differences.length;
      const names = new Set([...all.rows, ...all.attempts].map(groupOf));
      await Promise.all(
        METRICS.map(async (metric) => {
          const query = `metric=${metric}&bucket=hour&group_by=${group_by}`;
          const grouped = await read<Timeseries>(`/api/relay/stats/timeseries?${query}`);
          compare(`groups by ${group_by}`, grouped.series.length, names.size);
          for (const series of grouped.series)
            compareSeries(
              `${metric} of ${series.key}`,
              series,
              partOf(all, (place) => groupOf(place) === series.key),
              grouped,
            );
        }),
      );
      assertSame(from);
    });

  it('requests by state, and all requests so far, are those of the rows', async () => {
    const from = differences.length;
    const states = await read<Timeseries>('/api/relay/stats/timeseries?metric=requests&group_by=state');
    const count = (state: string) => rows.filter((row) => row.state === state).length;
    for (const { key, total } of states.series) compare(`requests ${key}`, total, count(key ?? ''));
    const summary = await read<StatsSummary>('/api/relay/stats/summary');
    compare('requests', summary.requests, rows.length);
    compare('states', summary.request_states, {
      completed: count('completed'),
      failed: count('failed'),
      cancelled: count('cancelled'),
    });
    assertSame(from);
  });

  it('the share that a wait budget would serve is that of the rows', async () => {
    const from = differences.length;
    for (const [name, laneId] of Object.entries(traffic.laneIds)) {
      const waits = await read<WaitDistribution>(`/api/relay/stats/wait-distribution?lane_id=${laneId}`);
      const own = rows.filter(({ lane_id }) => lane_id === laneId);
      compare(`${name}, requests`, waits.requests, own.length);
      compare(
        `${name}, not dispatched`,
        waits.undispatched,
        own.filter(({ endpoint_id }) => endpoint_id === null).length,
      );
      for (const budgetMs of BUDGETS_MS) {
        const right = own.filter(({ wait_ms }) => wait_ms <= budgetMs).length;
        const sum = (isIn: (bin: WaitDistribution['bins'][number]) => boolean) =>
          waits.bins.filter(isIn).reduce((all, { requests }) => all + requests, 0);
        const least = sum(({ up_to_ms }) => up_to_ms !== null && up_to_ms <= budgetMs);
        const most = sum(({ from_ms }) => from_ms <= budgetMs);
        compare(`${name}, waits of ${budgetMs} ms or less`, [least, most], [right, right]);
      }
    }
    assertSame(from);
  });

  it('showback, metered usage and the statement have the cost of the rows', async () => {
    const from = differences.length;
    const showbackGroups = { key: groups.api_key, member: groups.user, model: groups.model } as const;
    for (const [group_by, groupOf] of Object.entries(showbackGroups)) {
      const { total, lines } = await read<Showback>(`/api/relay/stats/showback?group_by=${group_by}`);
      const lists = [['total', total, all] as const].concat(
        lines.map(
          (line) => [`${line.key}`, line, partOf(all, (place) => groupOf(place) === line.key)] as never,
        ),
      );
      for (const [name, line, own] of lists)
        compare(
          `showback by ${group_by}, ${name}`,
          [
            line.requests,
            line.metered_requests,
            line.input_tokens,
            line.output_tokens,
            line.cost_micros,
            picosIn(line.cost_usd),
          ],
          [
            own.rows.length,
            own.rows.filter((row) => row.metered).length,
            measures.input_tokens(own),
            measures.output_tokens(own),
            measures.cost_micros(own),
            pricedPicos(own.attempts)?.toString() ?? null,
          ],
        );
    }
    const [start, end] = [Date.now() - SIZE_MS.day, Date.now()].map((ms) => new Date(ms).toISOString());
    const usage = await read<MeteredUsage>(`/api/relay/stats/metered?from=${start}&to=${end}`);
    const metered = all.attempts.filter((attempt) => attempt.metered);
    compare('metered requests', sumIn(usage.rows.map(({ requests }) => requests)), metered.length);
    compare(
      'metered cost',
      String(usage.rows.reduce((sum, { cost_usd }) => sum + BigInt(picosIn(cost_usd) ?? 0), 0n)),
      String(picosOf(metered)),
    );
    const { totals } = await read<UsageStatement>('/api/billing/usage-statements');
    compare('statement', picosIn(totals.metered_spend_usd), String(picosOf(rows)));
    assertSame(from);
  });

  it('limits have used what the rows used', async () => {
    const from = differences.length;
    // A limit on requests counts what went to a provider, also when it failed.
    const expected = { requests: all.attempts.length, tokens: measures.total_tokens(all), concurrency: 0 };
    const items = await read<LimitUsage[]>('/api/relay/limits/usage');
    assert.ok(items.length >= 3);
    for (const { metric, used } of items)
      compare(`limit on ${metric}`, used, expected[metric as keyof typeof expected]);
    assertSame(from);
  });

  it('a request has the cost, wait and wait budget of its row, also in its headers', async () => {
    const from = differences.length;
    const entries = await readRequestLog(traffic.deployment.admin);
    pages += 1;
    const byTag = new Map(entries.map((entry) => [entry.client_request_id, entry]));
    for (const row of rows) compareEntry(row, byTag.get(row.tag));
    for (const { tag, status, headers } of traffic.answers) {
      const header = headers['x-relay-actual-cost-micros'];
      const entry = byTag.get(tag);
      // A stream's headers are sent before its cost is known.
      if (header !== undefined && status === 200)
        compare(`${tag}, cost in its header`, Number(header), entry?.cost_micros);
      if (headers['x-relay-wait-ms'] !== undefined && entry !== undefined && entry.fallback_count === 0)
        compare(`${tag}, wait in its header`, Number(headers['x-relay-wait-ms']), entry.wait_ms);
    }
    assertSame(from);
  });

  function compareEntry(row: LedgerRow, entry: RequestLogEntry | undefined): void {
    compare(
      row.tag,
      [entry?.wait_ms, entry?.wait_budget_ms, entry?.duration_ms, picosIn(entry?.cost_usd) ?? '0'],
      [row.wait_ms, budgetOf(row), row.latency_ms, row.picos],
    );
  }
});

/** Null for a client that left before its request was routed. */
function budgetOf({ lane_id: laneId }: LedgerRow): number | null {
  if (laneId === null) return null;
  return laneId === traffic.laneIds['narrow'] ? 2_000 : 5_000;
}

const sumIn = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
