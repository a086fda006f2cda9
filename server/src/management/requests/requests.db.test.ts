import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { RouteQuery } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { createRandom, testSeed } from '@relay/testbed/random';
import fc from 'fast-check';
import { sql } from 'kysely';
import type { Caller } from '../../domain/caller.ts';
import { uuidTimeMs } from '../../kit/uuid-time.ts';
import { sampleRow } from '../../store/ledger/ledger-row.fixture.ts';
import type { LedgerRow } from '../../store/ledger/ledger-row.ts';
import { startWalk } from '../../store/ledger/log/walk-log.ts';
import { addMember, asKey, type ManagementFixture, refusal, startManagement } from '../fixture.ts';
import { idAt, insertRequests } from './ledger.fixture.ts';
import { readPage } from './read-page.ts';
import { searchFor } from './search.ts';

type Query = RouteQuery<'listRequests'>;

const DAY_MS = 86_400_000;
const OLD_ROWS = 2_000;
const NEW_ROWS = 45_000;

describe('the request log', () => {
  const nowMs = Date.now();
  let database: FreshDatabase;
  let room: ManagementFixture;
  let developer: Caller;
  let rows: LedgerRow[];
  const ids = (count: number): string[] => Array.from({ length: count }, () => randomUUIDv7());
  const pool = { keys: ids(4), lanes: ids(3), endpoints: ids(4), providers: ids(2), users: ids(2) };

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, {
      deployment: { mode: 'self_hosted', accounts: true, version: '0.0.0' },
    });
    developer = await addMember(room, room.acme, 'developer');
    pool.users.push(developer.userId, room.acme.userId);
    rows = generated(nowMs);
    await insertRequests(room.db, rows);
    await sql`analyze requests`.execute(room.db);
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  /** Most rows are within 36 hours, more than one statement reads; some are months old. */
  function generated(untilMs: number): LedgerRow[] {
    const random = createRandom(7).next;
    const one = <T>(items: readonly T[]): T => items[Math.floor(random() ** 2 * items.length)] as T;
    return Array.from({ length: OLD_ROWS + NEW_ROWS }, (_, number) => {
      const agoMs = number < OLD_ROWS ? random() * 60 * DAY_MS : random() * 1.5 * DAY_MS;
      const state = one(['completed', 'completed', 'completed', 'failed', 'cancelled'] as const);
      const dispatched = random() < 0.9;
      return sampleRow({
        // Whole seconds, so that many share a millisecond.
        request_id: idAt(Math.floor((untilMs - agoMs) / 1_000) * 1_000, number),
        organization_id: number % 9 === 0 ? room.globex.organizationId : room.acme.organizationId,
        user_id: one(pool.users),
        key_id: random() < 0.3 ? null : one(pool.keys),
        lane_id: random() < 0.2 ? null : one(pool.lanes),
        endpoint_id: dispatched ? one(pool.endpoints) : null,
        provider_id: dispatched ? one(pool.providers) : null,
        model: one(['main', 'fast', 'gpt-5', 'rare']),
        operation: one(['chat', 'responses', 'embeddings'] as const),
        state,
        error_code: state === 'failed' ? one(['upstream_timeout', 'upstream_failed', 'queue_full']) : null,
        wait_ms: random() < 0.1 ? 1 + Math.floor(random() * 5_000) : 0,
        fallback_count: random() < 0.05 ? 1 + Math.floor(random() * 2) : 0,
      });
    });
  }

  const read = async (query: Query, caller: Caller = room.acme) =>
    (await room.call('listRequests', caller, { query })).body;

  async function allPages(query: Query, caller: Caller): Promise<{ ids: string[]; pages: number }> {
    const found: string[] = [];
    let pages = 0;
    let cursor: string | undefined;
    do {
      const page = await read(cursor === undefined ? query : { ...query, cursor }, caller);
      assert.ok(page.data.length <= (query.limit ?? 50));
      found.push(...page.data.map(({ request_id }) => request_id));
      cursor = page.next_cursor ?? undefined;
      pages += 1;
      assert.ok(pages < 500, 'paging does not end');
    } while (cursor !== undefined);
    return { ids: found, pages };
  }

  /** The expected result, found by filtering all rows. */
  function expected(query: Query, caller: Caller, own: boolean): string[] {
    const { from, to } = query;
    const matches = (row: LedgerRow) =>
      row.organization_id === caller.organizationId &&
      (!own || row.user_id === caller.userId) &&
      (from === undefined || uuidTimeMs(row.request_id) >= Date.parse(from)) &&
      (to === undefined || uuidTimeMs(row.request_id) < Date.parse(to)) &&
      (query.state ?? row.state) === row.state &&
      (query.operation ?? row.operation) === row.operation &&
      (query.model ?? row.model) === row.model &&
      (query.lane_id ?? row.lane_id) === row.lane_id &&
      (query.endpoint_id ?? row.endpoint_id) === row.endpoint_id &&
      (query.provider_id ?? row.provider_id) === row.provider_id &&
      (query.api_key_id ?? row.key_id) === row.key_id &&
      (query.user_uuid ?? row.user_id) === row.user_id &&
      (query.error_code ?? row.error_code) === row.error_code &&
      (query.waited ?? row.wait_ms > 0) === row.wait_ms > 0 &&
      (query.fell_back ?? row.fallback_count > 0) === row.fallback_count > 0;
    return rows
      .filter(matches)
      .map(({ request_id }) => request_id)
      .sort()
      .reverse();
  }

  it('page by page is what looking at every row gives, whatever is asked', async () => {
    const maybe = <T>(values: readonly T[]) =>
      fc.option(fc.constantFrom(...values), { nil: undefined, freq: 1 });
    const time = fc
      .integer({ min: 0, max: 65 * 24 })
      .map((hours) => new Date(nowMs - hours * 3_600_000).toISOString());
    const question = fc.record({
      from: fc.option(time, { nil: undefined, freq: 1 }),
      to: fc.option(time, { nil: undefined, freq: 1 }),
      state: maybe(['completed', 'failed', 'cancelled'] as const),
      operation: maybe(['chat', 'responses', 'embeddings'] as const),
      model: maybe(['main', 'rare', 'no such']),
      lane_id: maybe([...pool.lanes, randomUUIDv7()]),
      endpoint_id: maybe(pool.endpoints),
      provider_id: maybe(pool.providers),
      api_key_id: maybe([...pool.keys, 'no id']),
      user_uuid: maybe(pool.users),
      error_code: maybe(['upstream_timeout', 'queue_full']),
      waited: maybe([true, false]),
      fell_back: maybe([true, false]),
    });
    await fc.assert(
      fc.asyncProperty(
        question,
        fc.constantFrom(7, 50, 333, 1_000),
        fc.boolean(),
        async (asked, size, own) => {
          const given = Object.entries(asked).filter(([, value]) => value !== undefined);
          const filters = Object.fromEntries(given) as Query;
          const caller = own ? developer : room.acme;
          const wanted = expected(filters, caller, own);
          // Larger pages for large results, to keep the test fast.
          const limit = Math.min(1_000, Math.max(size, Math.ceil(wanted.length / 8)));
          assert.deepEqual((await allPages({ ...filters, limit }, caller)).ids, wanted);
        },
      ),
      { numRuns: 20, seed: testSeed() },
    );
  });

  it('skips and repeats nothing where statements stop before they have found enough, and says where to go on', async () => {
    const questions: Query[] = [
      { lane_id: pool.lanes[0] ?? '', endpoint_id: pool.endpoints[3] ?? '', state: 'cancelled' },
      { operation: 'embeddings', model: 'rare', api_key_id: pool.keys[3] ?? '' },
      { operation: 'embeddings', state: 'completed' },
      { state: 'completed', error_code: 'queue_full' },
      { waited: true, fell_back: false },
    ];
    let short = 0;
    for (const query of questions) {
      const search = { ...searchFor(room.acme, query), scannedRowsMax: 1_000 };
      const found: string[] = [];
      for (let beforeId: string | null = search.beforeId; beforeId !== null; ) {
        const walk = startWalk(room.ofOrganization(search.organizationId), { ...search, beforeId }, nowMs);
        const page = await readPage(walk, 100);
        found.push(...page.rows.map(({ request_id }) => request_id));
        if (page.rows.length < 100 && page.belowId !== null) short += 1;
        beforeId = page.belowId;
      }
      assert.deepEqual(found, expected(query, room.acme, false));
    }
    assert.ok(short > 0, 'no page was short');
  });

  it('is 50 to a page unless asked otherwise, newest first, and a rare combination may make a page short', async () => {
    const first = await read({});
    assert.equal(first.data.length, 50);
    const second = await read({ cursor: first.next_cursor ?? '' });
    const both = [...first.data, ...second.data].map(({ request_id }) => request_id);
    assert.deepEqual(both, expected({}, room.acme, false).slice(0, 100));
    assert.equal((await read({ limit: 1_000 })).data.length, 1_000);

    const nothing = { lane_id: pool.lanes[0] ?? '', endpoint_id: pool.providers[0] ?? '' };
    assert.deepEqual((await allPages(nothing, room.acme)).ids, []);
  });

  it('shows own traffic to whoever may see no more, and that of another user to nobody else', async () => {
    const own = await allPages({ limit: 1_000 }, developer);
    assert.deepEqual(own.ids, expected({}, developer, true));
    assert.ok(own.ids.length > 0);
    const [stranger = ''] = pool.users;
    assert.deepEqual((await read({ user_uuid: stranger }, developer)).data, []);
    const key = asKey(room.acme, ['relay:usage:read']);
    const { data } = await read({ limit: 1_000 }, key);
    assert.ok(data.length > 0 && data.every(({ user_uuid }) => user_uuid === room.acme.userId));
  });

  it('is that of the own organization alone; a cursor of another is none', async () => {
    const { next_cursor, data } = await read({ limit: 1 }, room.globex);
    assert.ok(next_cursor !== null && data.length === 1);
    await assert.rejects(read({ cursor: next_cursor }), refusal('invalid_request', 'cursor'));
    await assert.rejects(read({ cursor: 'nonsense' }), refusal('invalid_request', 'cursor'));
    const theirs = new Set(expected({}, room.globex, false));
    const ours = await allPages({ limit: 1_000, model: 'main' }, room.acme);
    assert.ok(ours.ids.every((id) => !theirs.has(id)));
  });

  it('of one request is 404 outside the scope, for an id that never was and for text that is none', async () => {
    const get = (id: string, caller: Caller = room.acme) => room.call('getRequest', caller, { id });
    const [mine = ''] = expected({}, developer, true);
    const [theirs = ''] = expected({}, room.globex, false);
    const others = expected({ user_uuid: room.acme.userId }, room.acme, false)[0] ?? '';
    assert.equal((await get(mine, developer)).body.request_id, mine);
    assert.equal((await get(others)).body.request_id, others);
    for (const [id, caller] of [
      [theirs, room.acme],
      [others, developer],
      [randomUUIDv7(), room.acme],
      ['nonsense', room.acme],
    ] as const)
      await assert.rejects(get(id, caller), refusal('not_found'));
  });

  it('names the field that cannot be what it is', async () => {
    await assert.rejects(read({ model: '\0' }), refusal('invalid_request', 'model'));
    await assert.rejects(read({ from: '2016-12-31T23:59:60Z' }), refusal('invalid_request', 'from'));
  });
});
