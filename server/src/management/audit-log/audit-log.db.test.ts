import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { RouteQuery } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { sql } from 'kysely';
import type { Caller } from '../../domain/caller.ts';
import { createDatabase, type DatabaseHandle } from '../../store/postgres/postgres.ts';
import { addMember, asKey, type ManagementFixture, refusal, startManagement } from '../fixture.ts';
import { type EntrySearch, entriesQuery } from './queries.ts';

type Query = RouteQuery<'listAuditLog'>;

describe('the audit log', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, {
      deployment: { mode: 'self_hosted', accounts: true, version: '0.0.0' },
    });
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  const read = async (query: Query, caller: Caller = room.acme) =>
    (await room.call('listAuditLog', caller, { query })).body;
  const lane = (caller: Caller, name: string) => room.call('createLane', caller, { body: { name } });

  it('names who did what, newest first, in pages of at most 50 unless asked for more', async () => {
    const admin = await addMember(room, room.acme, 'admin');
    const { body: made } = await room.call('createApiKey', admin, {
      body: { name: 'Deploy', scopes: ['relay:routing:manage'] },
    });
    const key = asKey(admin, ['relay:routing:manage'], made.key.id);
    const done = [await lane(room.acme, 'By token'), await lane(admin, 'By hand'), await lane(key, 'By key')];
    const { data } = await read({ action: 'lane.create' });
    assert.deepEqual(
      data.map(({ actor }) => actor),
      [
        { type: 'api_key', id: made.key.id, name: 'Deploy' },
        { type: 'user', id: admin.userId, name: 'admin' },
        { type: 'admin_token', id: room.acme.userId, name: 'owner' },
      ],
    );
    const [newest] = data;
    assert.equal(newest?.request_id, done[2]?.requestId);
    assert.equal(newest?.target_id, done[2]?.body.id);
    assert.equal(newest?.before, null);
    assert.equal((newest?.after as { name?: string } | undefined)?.name, 'By key');
    assert.ok(Math.abs(Date.parse(newest?.at ?? '') - Date.now()) < 60_000);

    for (let index = 0; index < 60; index += 1) await lane(room.globex, `Lane ${index}`);
    const first = await read({}, room.globex);
    assert.equal(first.data.length, 50);
    const second = await read({ cursor: first.next_cursor ?? '' }, room.globex);
    assert.deepEqual([second.data.length, second.next_cursor], [10, null]);
    assert.equal((await read({ limit: 1_000 }, room.globex)).data.length, 60);
    const ids = [...first.data, ...second.data].map(({ id }) => id);
    assert.deepEqual(ids, [...new Set(ids)].sort().reverse());
  });

  it('is that of the own organization alone, by every filter; a cursor of another is none', async () => {
    const { body: theirs } = await lane(room.globex, 'Theirs');
    const { next_cursor } = await read({ limit: 1 }, room.globex);
    await assert.rejects(read({ cursor: next_cursor ?? '' }), refusal('invalid_request', 'cursor'));
    const searches: Query[] = [{ target_id: theirs.id }, { actor_id: room.globex.userId }];
    for (const query of searches) {
      const { data } = await read(query);
      assert.ok(
        data.every(({ target_id, actor }) => target_id !== theirs.id && actor.id !== room.globex.userId),
      );
    }
  });

  it('is searched by person (with their keys), key, action, target and time', async () => {
    const admin = await addMember(room, room.acme, 'admin');
    const { body: made } = await room.call('createApiKey', admin, {
      body: { name: 'Mine', scopes: ['relay:routing:manage'] },
    });
    const key = asKey(admin, ['relay:routing:manage'], made.key.id);
    const byHand = (await lane(admin, 'One')).body.id;
    const byKey = (await lane(key, 'Two')).body.id;
    const targets = async (query: Query) => (await read(query)).data.map(({ target_id }) => target_id);

    assert.deepEqual(await targets({ actor_id: admin.userId }), [byKey, byHand, made.key.id]);
    assert.deepEqual(await targets({ actor_id: made.key.id }), [byKey]);
    assert.deepEqual(await targets({ actor_id: admin.userId, target_type: 'lane' }), [byKey, byHand]);
    assert.deepEqual(await targets({ target_id: byHand }), [byHand]);
    assert.deepEqual(await targets({ action: 'api_key.create', actor_id: admin.userId }), [made.key.id]);
    assert.deepEqual(await targets({ actor_id: 'nobody' }), []);
    assert.deepEqual(await targets({ actor_id: randomUUIDv7() }), []);

    const [entry] = (await read({ target_id: byHand })).data;
    const at = entry?.at ?? '';
    const later = new Date(Date.parse(at) + 1).toISOString();
    const within = { actor_id: admin.userId, target_id: byHand };
    assert.deepEqual(await targets({ ...within, from: at, to: later }), [byHand]);
    assert.deepEqual(await targets({ ...within, from: later }), []);
    assert.deepEqual(await targets({ ...within, to: at }), []);
    assert.deepEqual(await targets({ ...within, from: '1890-01-01T00:00:00Z', to: '9999-12-31T23:59:59Z' }), [
      byHand,
    ]);

    const paged = await read({ actor_id: admin.userId, limit: 2 });
    assert.deepEqual(
      paged.data.map(({ target_id }) => target_id),
      [byKey, byHand],
    );
    assert.deepEqual(await targets({ actor_id: admin.userId, limit: 2, cursor: paged.next_cursor ?? '' }), [
      made.key.id,
    ]);
    await assert.rejects(read({ cursor: 'nonsense' }), refusal('invalid_request', 'cursor'));
    await assert.rejects(read({ action: '\0' }), refusal('invalid_request', 'action'));
  });

  it('still tells what a member did who has been removed', async () => {
    const admin = await addMember(room, room.acme, 'admin');
    const { body } = await lane(admin, 'Left behind');
    await room.call('removeMember', room.acme, { id: admin.userId });
    const [entry] = (await read({ target_id: body.id })).data;
    assert.deepEqual(entry?.actor, { type: 'user', id: admin.userId, name: 'admin' });
  });
});

describe('a page of an audit log of 100,000 entries', () => {
  const RARE = randomUUIDv7();
  let database: FreshDatabase;
  let room: ManagementFixture;
  let handle: DatabaseHandle;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url);
    handle = createDatabase({
      url: database.url,
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    });
    // One minute apart. The rare entry is among the oldest, where a bad query plan would read the whole log to
    // find it.
    for (let from = 1; from < 100_000; from += 20_000) {
      await sql`insert into audit_log
        (organization_id, id, actor_type, actor_user_id, actor_key_id, action, target_type, target_id)
        select ${room.acme.organizationId},
          (lpad(to_hex(1700000000000 + n * 60000::bigint), 12, '0') || '7000' || lpad(to_hex(n), 16, '8'))::uuid,
          'user', case when n = 500 then ${RARE}::uuid else ${room.acme.userId}::uuid end,
          case when n = 500 then ${RARE}::uuid end,
          case when n = 500 then 'rare.create' else 'lane.create' end,
          case when n = 500 then 'rare' else 'lane' end,
          case when n = 500 then ${RARE} else 'lane ' || n end
        from generate_series(${from}::int, ${from + 19_999}::int) n`.execute(room.db);
    }
    await sql`analyze audit_log`.execute(room.db);
  });
  after(async () => {
    await room.close();
    await handle.close();
    await database.drop();
  });

  const everything = { fromMs: 0, toMs: 2 ** 48 - 1, limit: 51 };
  const searches: Readonly<Record<string, Partial<EntrySearch>>> = {
    'no filter': {},
    'a time long ago': { fromMs: 1_700_000_000_000, toMs: 1_700_003_600_000 },
    'a frequent actor': { actorId: 'acme' },
    'a rare actor': { actorId: RARE },
    'an actor who did nothing': { actorId: randomUUIDv7() },
    'a frequent action': { action: 'lane.create' },
    'a rare action': { action: 'rare.create' },
    'a frequent target type': { targetType: 'lane' },
    'a rare target type': { targetType: 'rare' },
    'a target': { targetId: RARE },
    'a target that never was': { targetId: randomUUIDv7() },
    'a page in the middle': { beforeId: '018bd000-0000-7000-8888-888888888888' },
  };

  for (const [what, filter] of Object.entries(searches)) {
    it(`by ${what} reads its own rows and hardly any other`, async () => {
      const { organizationId, userId } = room.acme;
      const actor = filter.actorId === 'acme' ? { actorId: userId } : {};
      const query = entriesQuery(handle.ofOrganization(organizationId), {
        ...everything,
        ...filter,
        ...actor,
        organizationId,
      });
      const rows = await query.execute();
      assert.ok(rows.length <= 51);
      const plan = await query.explain<{ 'QUERY PLAN': { Plan: PlanNode }[] }>('json', sql`analyze`);
      const read = rowsRead(plan[0]?.['QUERY PLAN'][0]?.Plan);
      assert.ok(read <= 3 * 51, `${read} rows of the log were read`);
    });
  }
});

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** How many rows of the log the plan reads, matching or not. */
function rowsRead(node: PlanNode | undefined): number {
  if (node === undefined) return 0;
  const here =
    node['Relation Name'] === 'audit_log' ? node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) : 0;
  return here * node['Actual Loops'] + (node.Plans ?? []).reduce((sum, child) => sum + rowsRead(child), 0);
}
