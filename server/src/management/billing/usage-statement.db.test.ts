import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { UsageLine, UsageStatement, UsageStatementQuery } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import type { Insertable } from 'kysely';
import type { Caller } from '../../domain/caller.ts';
import type { Database } from '../../store/postgres/schema.ts';
import {
  addMember,
  addOneOfEach,
  addOrganization,
  type ManagementFixture,
  refusal,
  startManagement,
} from '../fixture.ts';

const NOW_MS = Date.UTC(2026, 10, 15, 12);
type Counts = Partial<Insertable<Database['request_rollups']>>;

describe('a usage statement', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, { clock: { nowMs: () => NOW_MS, monotonicMs: () => NOW_MS } });
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  const read = async (caller: Caller, query: UsageStatementQuery = {}): Promise<UsageStatement> =>
    (await room.call('getUsageStatement', caller, { query })).body;

  /** Records usage of this caller as the worker does. */
  async function use(
    { organizationId }: Caller,
    by: { user_id?: string; key_id?: string; endpoint_id?: string },
    counts: Counts,
    day = '2026-11-03',
  ): Promise<void> {
    const shared = {
      organization_id: organizationId,
      bucket: 'day' as const,
      bucket_start: new Date(`${day}T00:00:00Z`),
      endpoint_id: by.endpoint_id ?? null,
      ...counts,
    };
    await room.db
      .insertInto('request_rollups')
      .values([
        { ...shared, family: 'resource', lane_id: randomUUIDv7() },
        { ...shared, family: 'caller', user_id: by.user_id ?? null, key_id: by.key_id ?? null },
      ])
      .execute();
  }
  async function addKey({ organizationId, userId }: Caller, name: string): Promise<string> {
    const id = randomUUIDv7();
    await room.db
      .insertInto('api_keys')
      .values({
        organization_id: organizationId,
        id,
        user_id: userId,
        name,
        public_id: id.slice(-10),
        secret_hmac: Buffer.alloc(32),
        scopes: ['relay:request'],
      })
      .execute();
    return id;
  }
  const newOrganization = () => addOrganization(room.db, randomUUIDv7());
  const spendOf = (lines: readonly UsageLine[]) =>
    lines.map(({ user_uuid, api_key_id, metered_spend_micros }) => [
      user_uuid,
      api_key_id,
      metered_spend_micros,
    ]);

  it('adds a month up for the organization and for every user and key, and says that it is no invoice', async () => {
    const caller = await newOrganization();
    const { endpoint } = await addOneOfEach(room, caller);
    const member = await addMember(room, caller, 'developer');
    const [one, two] = [await addKey(member, 'One'), await addKey(member, 'Two')];
    const metered = { requests_completed: 1, requests_metered: 1, endpoint_id: endpoint.id };
    const at = { endpoint_id: endpoint.id };
    await use(
      caller,
      { user_id: caller.userId, ...at },
      {
        ...metered,
        cost_micros: 5,
        output_tokens: 7,
        fallback_cost_micros: 3,
      },
    );
    await use(caller, { user_id: member.userId, key_id: one, ...at }, { ...metered, cost_micros: 10 });
    await use(
      caller,
      { user_id: member.userId, key_id: one, ...at },
      {
        ...metered,
        requests_failed: 2,
        requests_estimated: 1,
        cost_micros: 20,
        fallback_cost_micros: 2,
        fallback_cost_rounding_picos: 400_000,
        input_tokens: 4,
        cached_input_tokens: 3,
      },
      '2026-11-30',
    );
    await use(caller, { user_id: member.userId, key_id: two, ...at }, { ...metered, cost_micros: 40 });
    for (const day of ['2026-10-31', '2026-12-01'])
      await use(caller, { user_id: caller.userId, ...at }, { ...metered, cost_micros: 1_000 }, day);

    const statement = await read(caller, { month: '2026-11' });
    const { totals, lines, ...rest } = statement;
    assert.deepEqual(rest, {
      month: '2026-11',
      period_start: '2026-11-01T00:00:00.000Z',
      period_end: '2026-12-01T00:00:00.000Z',
      complete: false,
      basis: 'configured_prices',
      currency: 'USD',
      next_cursor: null,
    });
    assert.deepEqual(totals, {
      requests: 6,
      metered_requests: 4,
      estimated_requests: 1,
      unpriced_requests: 0,
      input_tokens: 4,
      cached_input_tokens: 3,
      output_tokens: 7,
      metered_spend_micros: 75,
      metered_spend_usd: '0.000075',
      fallback_cost_micros: 5,
      fallback_cost_usd: '0.0000046',
    });
    const expected = [
      [caller.userId, null, 5],
      [member.userId, one, 30],
      [member.userId, two, 40],
    ];
    assert.deepEqual(spendOf(lines), expected);
    assert.deepEqual(
      lines.map(({ user_name, api_key_name }) => [user_name, api_key_name]),
      [
        ['owner', null],
        ['developer', 'One'],
        ['developer', 'Two'],
      ],
    );
    assert.deepEqual(spendOf((await read(caller, { by: 'user' })).lines), [
      [caller.userId, null, 5],
      [member.userId, null, 70],
    ]);
    assert.equal((await read(caller, { month: '2026-10' })).complete, true);
    assert.deepEqual(spendOf((await read(caller, { month: '2026-12' })).lines), [
      [caller.userId, null, 1_000],
    ]);
    assert.deepEqual((await read(caller, { month: '2025-02' })).lines, []);
  });

  it('does not call free what has no price', async () => {
    const caller = await newOrganization();
    const { endpoint } = await addOneOfEach(room, caller);
    const [priced, bare] = [endpoint.id, randomUUIDv7()];
    const [free, unknown, both] = [randomUUIDv7(), randomUUIDv7(), randomUUIDv7()];
    const metered = { requests_completed: 2, requests_metered: 2 };
    await use(caller, { user_id: free, endpoint_id: priced }, metered);
    await use(caller, { user_id: unknown, endpoint_id: bare }, metered);
    await use(caller, { user_id: both, endpoint_id: bare }, metered, '2026-11-04');
    await use(caller, { user_id: both, endpoint_id: priced }, { ...metered, cost_micros: 9 }, '2026-11-04');
    // Removing a price does not change the cost of earlier requests.
    await use(caller, { user_id: both, endpoint_id: bare }, { ...metered, cost_micros: 1 }, '2026-11-05');
    const { totals, lines } = await read(caller);
    assert.deepEqual(
      lines.map((line) => [line.user_uuid, line.metered_spend_micros, line.unpriced_requests]),
      [
        [free, 0, 0],
        [unknown, null, 2],
        [both, 10, 2],
      ].sort(([one], [other]) => (String(one) < String(other) ? -1 : 1)),
    );
    assert.deepEqual([totals.metered_spend_micros, totals.unpriced_requests], [10, 4]);
    assert.deepEqual((await read(await newOrganization())).totals.metered_spend_micros, 0);
  });

  it('turns pages without leaving out or repeating a line', async () => {
    const caller = await newOrganization();
    const users = Array.from({ length: 3 }, () => randomUUIDv7());
    const pairs: [string | undefined, string | undefined][] = [[undefined, undefined]];
    for (const user of users) pairs.push([user, undefined], [user, randomUUIDv7()], [user, randomUUIDv7()]);
    for (const [user_id, key_id] of pairs)
      await use(
        caller,
        { ...(user_id === undefined ? {} : { user_id }), ...(key_id === undefined ? {} : { key_id }) },
        { requests_completed: 1 },
      );
    const whole = await read(caller);
    assert.equal(whole.lines.length, pairs.length);
    for (const by of ['key', 'user'] as const) {
      const expected = (await read(caller, { by })).lines;
      const seen: UsageLine[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const page: UsageStatement = await read(caller, {
          by,
          limit: 2,
          ...(cursor === '' ? {} : { cursor }),
        });
        seen.push(...page.lines);
        cursor = page.next_cursor;
      }
      assert.deepEqual(seen, expected, by);
    }
    for (const cursor of ['x', 'x.y', 'AAAAAAAAAAAAAAAAAAAAAA'])
      await assert.rejects(read(caller, { cursor }), refusal('invalid_request', 'cursor'));
  });

  it('shows an organization nothing of another', async () => {
    const [ours, theirs] = [await newOrganization(), await newOrganization()];
    await use(theirs, { user_id: theirs.userId }, { requests_completed: 3, cost_micros: 3 });
    const { totals, lines } = await read(ours);
    assert.deepEqual([totals.requests, lines], [0, []]);
  });
});
