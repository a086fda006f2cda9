import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { LaneStats } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { createRandom } from '@relay/testbed/random';
import type { Caller } from '../../domain/caller.ts';
import { exactUsd, shownMicros } from '../../domain/money/money.ts';
import { uuidTimeMs } from '../../kit/uuid-time.ts';
import { sampleRow } from '../../store/ledger/ledger-row.fixture.ts';
import type { LedgerRow } from '../../store/ledger/ledger-row.ts';
import { readGroups } from '../../store/ledger/rollups/read-groups.ts';
import {
  addMember,
  addOneOfEach,
  asKey,
  type ManagementFixture,
  refusal,
  startManagement,
} from '../fixture.ts';
import { fallbackPicosOf, idAt, recordRequests, sentAtArrival } from '../requests/ledger.fixture.ts';

const HOUR_MS = 3_600_000;
/** More than a response of `getTimeseries` has groups. */
const GROUPS = 120;
const COLUMNS = { lane: 'lane_id', api_key: 'key_id' } as const;

type Kind = keyof typeof COLUMNS;
type Figures = Omit<LaneStats, 'lane_id' | 'lane_name'>;

describe('statistics of all lanes and keys', () => {
  const nowMs = Date.parse('2026-03-31T12:30:00.000Z');
  const firstHourMs = Math.floor(nowMs / HOUR_MS - 23) * HOUR_MS;
  let database: FreshDatabase;
  let room: ManagementFixture;
  let one: Awaited<ReturnType<typeof addOneOfEach>>;
  const unpricedEndpointId = randomUUIDv7();
  let keyId: string;
  let developer: Caller;
  let rows: LedgerRow[];

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, {
      deployment: { mode: 'self_hosted', accounts: true, version: '0.0.0' },
      clock: { nowMs: () => nowMs, monotonicMs: () => performance.now() },
    });
    one = await addOneOfEach(room, room.acme, 'One');
    const { body: created } = await room.call('createApiKey', room.acme, {
      body: { name: 'App', scopes: ['relay:request'] },
    });
    keyId = created.key.id;
    developer = await addMember(room, room.acme, 'developer');
    rows = generated();
    const elsewhere = sampleRow({
      request_id: idAt(nowMs - HOUR_MS, 9_000),
      organization_id: room.globex.organizationId,
      lane_id: one.lane.id,
      key_id: keyId,
      user_id: developer.userId,
    });
    await recordRequests(room.db, [...rows, elsewhere]);
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  /** A day of requests over many lanes and keys, some without either. Those at the endpoint without a price cost nothing. */
  function generated(): LedgerRow[] {
    const random = createRandom(11).next;
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
    const many = (first: string) => [first, ...Array.from({ length: GROUPS - 1 }, () => randomUUIDv7())];
    const [lanes, keys] = [many(one.lane.id), many(keyId)];
    return Array.from({ length: 2_500 }, (_, number) => {
      const endpointId = pick([one.endpoint.id, unpricedEndpointId, null]);
      const isPriced = endpointId === one.endpoint.id;
      const row = sampleRow({
        request_id: idAt(Math.floor(nowMs - random() * 23 * HOUR_MS), number),
        organization_id: room.acme.organizationId,
        user_id: pick([developer.userId, room.acme.userId]),
        key_id: random() < 0.1 ? null : pick(keys),
        lane_id: random() < 0.1 ? null : pick(lanes),
        endpoint_id: endpointId,
        state: pick(['completed', 'completed', 'completed', 'failed', 'cancelled'] as const),
        fallback_count: Math.floor(random() * 3),
        wait_ms: random() < 0.5 ? 0 : Math.floor(random() ** 3 * 60_000),
        usage_source: endpointId === null ? 'none' : 'reported',
        actual_cost_micros: isPriced ? 1 + Math.floor(random() * 1_000_000) : 0,
        actual_cost_rounding_picos: isPriced ? Math.floor(random() * 999_999) : 0,
      });
      return sentAtArrival(row, isPriced && random() < 0.2 ? random() : null);
    });
  }

  async function read(kind: Kind, caller: Caller = room.acme, query = {}) {
    if (kind === 'lane') {
      const { lanes, ...page } = (await room.call('getLaneStats', caller, { query })).body;
      return {
        ...page,
        rows: lanes.map(({ lane_id: id, lane_name: name, ...figures }) => ({ id, name, figures })),
      };
    }
    const { api_keys: keys, ...page } = (await room.call('getApiKeyStats', caller, { query })).body;
    return {
      ...page,
      rows: keys.map(({ api_key_id: id, api_key_name: name, ...figures }) => ({ id, name, figures })),
    };
  }

  function figuresOf(own: readonly LedgerRow[]): Figures {
    const count = (wanted: (row: LedgerRow) => boolean) => own.filter(wanted).length;
    const picos = own.reduce(
      (sum, row) =>
        sum + BigInt(row.actual_cost_micros ?? 0) * 1_000_000n - BigInt(row.actual_cost_rounding_picos),
      0n,
    );
    const hourOf = ({ request_id: id }: LedgerRow) => Math.floor((uuidTimeMs(id) - firstHourMs) / HOUR_MS);
    const metered = count(({ endpoint_id: id }) => id !== null);
    const unpriced = count(({ endpoint_id: id }) => id === unpricedEndpointId);
    const isPriced = unpriced === 0 || unpriced < metered;
    const fallbackPicos = fallbackPicosOf(own);
    return {
      requests: own.length,
      served: count(({ state }) => state === 'completed'),
      failed: count(({ state }) => state === 'failed'),
      cancelled: count(({ state }) => state === 'cancelled'),
      rejected: count(({ state, endpoint_id: id }) => state === 'failed' && id === null),
      fallbacks: own.reduce((sum, { fallback_count: fallbacks }) => sum + fallbacks, 0),
      cost_micros: isPriced ? shownMicros(picos) : null,
      cost_usd: isPriced ? exactUsd(picos) : null,
      fallback_cost_micros: isPriced ? shownMicros(fallbackPicos) : null,
      fallback_cost_usd: isPriced ? exactUsd(fallbackPicos) : null,
      metered_requests: metered,
      unpriced_requests: unpriced,
      series: Array.from({ length: 24 }, (_, hour) => count((row) => hourOf(row) === hour)),
      wait_ms_p95: p95(own.map(({ wait_ms }) => wait_ms)),
    };
  }

  function p95(values: readonly number[]): number {
    const sorted = values.toSorted((a, b) => a - b);
    const exact = sorted[Math.ceil(0.95 * sorted.length) - 1] ?? 0;
    const stepMs = exact <= 1_000 ? 1 : 10 ** (String(exact).length - 2);
    return Math.floor(exact / stepMs + 0.5) * stepMs;
  }

  for (const kind of ['lane', 'api_key'] as const) {
    for (const who of ['the organization', 'a developer'] as const)
      it(`by ${kind} are those of the ledger's rows, for every group of ${who} and for requests without one`, async () => {
        const caller = who === 'the organization' ? room.acme : developer;
        const own = rows.filter(({ user_id }) => caller === room.acme || user_id === caller.userId);
        const groups = Map.groupBy(own, (row) => row[COLUMNS[kind]]);
        assert.ok(groups.size === GROUPS + 1);
        const page = await read(kind, caller);
        assert.equal(page.counted, caller === room.acme ? 'organization' : 'own');
        assert.equal(page.other, null);
        assert.equal(page.rows.length, groups.size);
        for (const { id, figures } of page.rows) assert.deepEqual(figures, figuresOf(groups.get(id) ?? []));
      });

    it(`by ${kind} are those of the series, which has at most 50 groups`, async () => {
      const totals = new Map((await read(kind)).rows.map(({ id, figures }) => [id, figures]));
      const { body } = await room.call('getTimeseries', room.acme, {
        query: { metric: 'wait_ms_p95', group_by: kind },
      });
      const groups = body.series.filter(({ kind: of }) => of === 'group' || of === 'none');
      assert.ok(groups.length < totals.size);
      for (const { key, total } of groups) assert.equal(totals.get(key)?.wait_ms_p95, total);
    });

    it(`by ${kind} have the name of what still exists, and the highest cost first`, async () => {
      const { rows: shown } = await read(kind);
      const named = shown.filter(({ name }) => name !== null);
      const expected = kind === 'lane' ? [one.lane.id, one.lane.name] : [keyId, 'App'];
      assert.deepEqual(
        named.map(({ id, name }) => [id, name]),
        [expected],
      );
      const costs = shown.map(({ figures }) => figures.cost_micros);
      assert.deepEqual(
        costs,
        costs.toSorted((a, b) => (b ?? 0) - (a ?? 0)),
      );
    });

    it(`by ${kind} belong to one organization, and need no scope but that for usage`, async () => {
      const { rows: theirs } = await read(kind, room.globex);
      assert.deepEqual(
        theirs.map(({ figures: { requests }, name }) => [requests, name]),
        [[1, null]],
      );
      const reader = asKey(room.acme, ['relay:usage:read']);
      const { counted, rows: own } = await read(kind, reader);
      assert.equal(counted, 'own');
      const requests = own.reduce((sum, { figures }) => sum + figures.requests, 0);
      assert.equal(requests, rows.filter(({ user_id }) => user_id === room.acme.userId).length);
    });

    it(`by ${kind} have no row without requests, and at most 200 points each`, async () => {
      const [from, to] = [20, 10].map((days) => new Date(nowMs - days * 24 * HOUR_MS).toISOString());
      assert.deepEqual((await read(kind, room.acme, { bucket: 'day', from, to })).rows, []);
      const long = { bucket: 'minute', from: new Date(nowMs - 5 * HOUR_MS).toISOString() };
      await assert.rejects(read(kind, room.acme, long), refusal('invalid_request', 'bucket'));
    });

    it(`by ${kind} sum the groups beyond the most, so that nothing is missing`, async () => {
      const { organizationId } = room.acme;
      const range = { bucket: 'hour', fromMs: firstHourMs, toMs: firstHourMs + 24 * HOUR_MS } as const;
      const question = { organizationId, userId: undefined, range };
      const all = await readGroups(room.db, kind, question, GROUPS + 1);
      const { groups, other } = await readGroups(room.db, kind, question, 50);
      assert.equal(all.other, null);
      assert.deepEqual(groups, all.groups.slice(0, 50));
      const rest = all.groups.slice(50);
      assert.equal(other?.groups, rest.length);
      const counts = [
        'completed',
        'failed',
        'cancelled',
        'rejected',
        'fallbacks',
        'metered',
        'unpriced',
      ] as const;
      for (const count of counts)
        assert.equal(
          other[count],
          rest.reduce((sum, group) => sum + group[count], 0),
          count,
        );
      assert.equal(
        other.costPicos,
        rest.reduce((sum, { costPicos }) => sum + costPicos, 0n),
      );
    });
  }
});
