import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { type ManagementFixture, refusal, startManagement } from '../fixture.ts';

describe('a list of 250', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let ids: string[];

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url);
    const organization_id = room.acme.organizationId;
    const rows = Array.from({ length: 250 }, (_, index) => ({
      organization_id,
      id: randomUUIDv7(),
      name: `Lane ${index}`,
      slug: `lane-${index}`,
    }));
    await room.db.insertInto('lanes').values(rows).execute();
    ids = rows.map(({ id }) => id).sort();
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  async function walk(limit: number, between: (page: number) => Promise<void> = async () => undefined) {
    const seen: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const query = cursor === undefined ? { limit } : { limit, cursor };
      const { body, headers } = await room.call('listLanes', room.acme, { query });
      seen.push(...body.map(({ id }) => id));
      cursor = headers.get('X-Next-Cursor');
      const link = cursor && `</api/relay/routing-lanes?limit=${limit}&cursor=${cursor}>; rel="next"`;
      assert.equal(headers.get('Link'), link);
      pages += 1;
      await between(pages);
    } while (cursor !== undefined);
    return { seen, pages };
  }

  it('is whole and without paging headers when no limit is sent', async () => {
    const { body, headers } = await room.call('listLanes', room.acme);
    assert.deepEqual(
      body.map(({ id }) => id),
      ids,
    );
    assert.equal(headers.size, 0);
  });

  it('is walked in pages without a duplicate or a gap, the last page saying that it is', async () => {
    assert.deepEqual(await walk(30), { seen: ids, pages: 9 });
    assert.deepEqual(await walk(50), { seen: ids, pages: 5 });
    assert.deepEqual(await walk(1_000), { seen: ids, pages: 1 });
  });

  it('loses no other row when rows come and go during the walk', async () => {
    const { body: first } = await room.call('listLanes', room.acme, { query: { limit: 1 } });
    const { seen } = await walk(60, async (page) => {
      if (page === 1) await room.call('deleteLane', room.acme, { id: first[0]?.id ?? '' });
      if (page === 2) await room.call('createLane', room.acme, { body: { name: 'Late' } });
    });
    assert.deepEqual(seen.slice(0, 250), ids);
    assert.equal(new Set(seen).size, 251);
  });

  it('refuses a cursor that it did not give out', async () => {
    for (const cursor of ['', 'nonsense', 'AAAA', `${'A'.repeat(21)}B`, "' or 1=1"]) {
      await assert.rejects(
        room.call('listLanes', room.acme, { query: { limit: 5, cursor } }),
        refusal('invalid_request', 'cursor'),
      );
    }
  });

  it('refuses a cursor of another list or of another organization', async () => {
    const body = { base_url: 'https://api.example.com/v1', auth_mode: 'none', enabled: true } as const;
    for (const name of ['One', 'Two'])
      await room.call('createProvider', room.acme, { body: { ...body, name } });
    const query = { limit: 1 };
    const lanes = await room.call('listLanes', room.acme, { query });
    const providers = await room.call('listProviders', room.acme, { query });
    const presets = await room.call('listProviderPresets', room.acme, { query });
    const [ofLanes, ofProviders, ofPresets] = [lanes, providers, presets].map(
      ({ headers }) => headers.get('X-Next-Cursor') ?? '',
    );
    const page = (cursor = '') => ({ query: { limit: 1, cursor } });
    const refused = refusal('invalid_request', 'cursor', /not valid for this list/);
    for (const cursor of [ofProviders, ofPresets])
      await assert.rejects(room.call('listLanes', room.acme, page(cursor)), refused);
    await assert.rejects(room.call('listLimitUsage', room.acme, page(ofLanes)), refused);
    await assert.rejects(room.call('listGuardrailPresets', room.acme, page(ofPresets)), refused);
    await assert.rejects(room.call('listLanes', room.globex, page(ofLanes)), refused);
    const all = await room.call('listLanes', room.acme);
    assert.equal((await room.call('listLanes', room.acme, page(ofLanes))).body[0]?.id, all.body[1]?.id);
  });
});
