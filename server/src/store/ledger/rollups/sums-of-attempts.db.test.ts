import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createRandom, testSeed } from '@relay/testbed/random';
import { uuidAt } from '../../../kit/uuid-time.ts';
import { type MigratedDatabase, migratedDatabase } from '../../fixtures/migrated-database.fixture.ts';
import { appendRequests } from '../append-requests.ts';
import { attemptsOfRow, type SentAttempt } from '../attempts-of-row.ts';
import { ensureLedgerPartitions } from '../ledger-partitions.ts';
import { randomAttempts, sampleRow } from '../ledger-row.fixture.ts';
import type { LedgerRow } from '../ledger-row.ts';
import { readGroups } from './read-groups.ts';
import { readMetered } from './read-metered.ts';
import { readSeries } from './read-series.ts';
import { readFocus, readShowback, readShowbackTotal } from './read-showback.ts';
import { readSpend } from './read-spend.ts';
import { readStatementLines, readStatementTotals } from './read-statement.ts';

const DAY_MS = 86_400_000;
const TODAY_MS = Date.parse('2026-03-10T00:00:00.000Z');
const random = createRandom(testSeed());
const upTo = (most: number) => Math.floor(random.next() * most);
const ids = (count: number) => Array.from({ length: count }, () => randomUUIDv7());
const [endpoints, providers, credentials, lanes, keys, users, teams] = [3, 2, 2, 2, 3, 2, 2].map(ids) as [
  string[],
  string[],
  string[],
  string[],
  string[],
  string[],
  string[],
];

const organizationId = randomUUIDv7();

/** Around midnight, so that requests are sent on another day than they arrived. */
function row(): LedgerRow {
  const usage_source = random.pick(['reported', 'streamed', 'estimated', 'none'] as const);
  const isNone = usage_source === 'none';
  return sampleRow({
    request_id: uuidAt(TODAY_MS - 20_000 + upTo(30_000)),
    organization_id: organizationId,
    endpoint_id: random.pick(endpoints),
    provider_id: random.pick(providers),
    credential_id: random.pick(credentials),
    lane_id: random.pick([...lanes, null]),
    key_id: random.pick([...keys, null]),
    user_id: random.pick(users),
    team_id: random.pick([...teams, null]),
    labels: random.pick([null, { product: 'a' }, { product: 'b' }]),
    usage_source,
    attempts: randomAttempts(random, { endpoints, providers, credentials }),
    wait_ms: random.pick([0, upTo(15_000)]),
    latency_ms: 60_000,
    actual_input_tokens: isNone ? null : upTo(900),
    actual_cached_input_tokens: isNone ? null : upTo(90),
    actual_output_tokens: isNone ? null : upTo(900),
    actual_cost_micros: isNone ? null : upTo(90_000),
    actual_cost_rounding_picos: isNone ? 0 : upTo(900),
  });
}

const picosOf = ({ cost_micros, cost_rounding_picos }: SentAttempt) =>
  BigInt(cost_micros) * 1_000_000n - BigInt(cost_rounding_picos);
const sumOf = <T>(list: readonly T[], amount: (each: T) => number) =>
  list.reduce((sum, each) => sum + amount(each), 0);
const costOf = <T>(list: readonly T[], amount: (each: T) => bigint | string) =>
  list.reduce((sum, each) => sum + BigInt(amount(each)), 0n);
const tokensOf = (each: { readonly input_tokens: number; readonly output_tokens: number }) =>
  each.input_tokens + each.output_tokens;

describe('usage of requests with several attempts', () => {
  let migrated: MigratedDatabase;
  const rows = Array.from({ length: 400 }, row);
  const sent = rows.flatMap(attemptsOfRow);
  const range = { bucket: 'day', fromMs: TODAY_MS - DAY_MS, toMs: TODAY_MS + DAY_MS } as const;
  const question = { organizationId, userId: undefined, range };
  const [tokens, cost] = [sumOf(sent, tokensOf), costOf(sent, picosOf)];
  const fallbackCost = costOf(
    sent.filter(({ is_followed }) => is_followed),
    picosOf,
  );

  before(async () => {
    migrated = await migratedDatabase();
    await ensureLedgerPartitions(migrated.db, '2026-03-09', '2026-03-10');
    await appendRequests(migrated.db, rows);
  });
  after(() => migrated.drop());

  it('is metered by endpoint as its providers bill it: each attempt, on the day on which it was sent', async () => {
    const read = await readMetered(migrated.db, { ...question, limit: 1_000 });
    const found = read.map((each) => [
      `${each.bucket_start.getTime()} ${each.provider_id} ${each.endpoint_id}`,
      [each.requests, tokensOf(each), BigInt(each.cost_picos)],
    ]);
    const used = sent.filter(({ source }) => source !== 'none');
    const groups = Map.groupBy(
      used,
      (each) =>
        `${each.dispatched_ms - (each.dispatched_ms % DAY_MS)} ${each.provider_id} ${each.endpoint_id}`,
    );
    const expected = [...groups].map(([key, of]) => [
      key,
      [of.length, sumOf(of, tokensOf), costOf(of, picosOf)],
    ]);
    assert.deepEqual(new Map(found as [string, unknown][]), new Map(expected as [string, unknown][]));
    assert.equal(
      sumOf(read, ({ requests }) => requests),
      used.length,
    );
  });

  it('costs the same whichever way it is divided, and so do the attempts that another one followed', async () => {
    for (const by of ['endpoint', 'lane', 'api_key'] as const) {
      const { groups, other } = await readGroups(migrated.db, by, question, 1);
      const all = other === null ? groups : [...groups, other];
      assert.equal(
        costOf(all, (each) => each.costPicos),
        cost,
        by,
      );
      assert.equal(
        costOf(all, (each) => each.fallbackCostPicos),
        fallbackCost,
        by,
      );
    }
    const days = await readSpend(migrated.db, { organizationId, userId: undefined, fromMs: range.fromMs });
    assert.equal(
      costOf(days, ({ cost_picos }) => cost_picos),
      cost,
    );
    assert.equal(
      costOf(days, ({ fallback_cost_picos }) => fallback_cost_picos),
      fallbackCost,
    );
    const today = days.find(({ bucket_start }) => bucket_start.getTime() === TODAY_MS);
    const sentToday = sent.filter(({ dispatched_ms }) => dispatched_ms >= TODAY_MS);
    assert.equal(BigInt(today?.cost_picos ?? 0), costOf(sentToday, picosOf));
    const series = await readSeries(migrated.db, {
      ...question,
      conditions: {},
      dimension: 'provider',
      sums: ['cost_picos', 'fallback_cost_picos'],
      histogram: null,
    });
    assert.equal(
      costOf(series, ({ sums }) => sums[0] ?? 0n),
      cost,
    );
    assert.equal(
      costOf(series, ({ sums }) => sums[1] ?? 0n),
      fallbackCost,
    );
    assert.ok(fallbackCost > 0n && fallbackCost < cost);
  });

  it('is the same in statements, in showback and in FOCUS', async () => {
    const period = { startMs: range.fromMs, endMs: range.toMs };
    const lines = await readStatementLines(migrated.db, {
      organizationId,
      period,
      by: 'key',
      limit: 100,
      after: null,
    });
    const total = await readStatementTotals(migrated.db, organizationId, period);
    for (const parts of [lines, [total]]) {
      assert.equal(sumOf(parts, tokensOf), tokens);
      assert.equal(
        costOf(parts, ({ cost_picos }) => cost_picos),
        cost,
      );
      assert.equal(
        costOf(parts, ({ fallback_cost_picos }) => fallback_cost_picos),
        fallbackCost,
      );
      assert.equal(
        sumOf(parts, ({ requests }) => requests),
        rows.length,
      );
      const estimated = rows.filter(({ usage_source }) => usage_source === 'estimated').length;
      assert.equal(
        sumOf(parts, ({ estimated_requests }) => estimated_requests),
        estimated,
      );
    }
    const whole = await readShowbackTotal(migrated.db, organizationId, range);
    const focus = await readFocus(migrated.db, organizationId, range);
    const divided = [[whole], focus];
    for (const group of [
      { by: 'team' },
      { by: 'key' },
      { by: 'member' },
      { by: 'model' },
      { by: 'label', name: 'product' },
    ] as const)
      divided.push(await readShowback(migrated.db, organizationId, range, group, 100));
    for (const parts of divided) {
      assert.equal(sumOf<{ input_tokens: number; output_tokens: number }>(parts, tokensOf), tokens);
      assert.equal(
        costOf<{ cost_picos: string }>(parts, ({ cost_picos }) => cost_picos),
        cost,
      );
    }
    // A request that waited over midnight is of the day before, and its usage of this one.
    const ofToday = await readShowback(
      migrated.db,
      organizationId,
      { ...range, fromMs: TODAY_MS },
      { by: 'key' },
      100,
    );
    const sentToday = sent.filter(({ dispatched_ms }) => dispatched_ms >= TODAY_MS);
    assert.equal(sumOf(ofToday, tokensOf), sumOf(sentToday, tokensOf));
  });
});
