import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { addOneOfEach, type ManagementFixture, refusal, startManagement } from '../fixture.ts';

describe('routing lanes', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url);
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  it('are created with the defaults of the contract', async () => {
    const { body } = await room.call('createLane', room.acme, { body: { name: 'Fast lane' } });
    assert.deepEqual(
      { ...body, id: '' },
      {
        id: '',
        name: 'Fast lane',
        slug: 'fast-lane',
        description: null,
        default_max_wait_ms: 30_000,
        allow_fallback: true,
        hold_ms: 2_000,
        selection: 'soonest',
        priority: 'standard',
        hidden: false,
        shadows_model: false,
        enabled: true,
        members: [],
      },
    );
  });

  it('keep their slug and what an update leaves out', async () => {
    const { body: lane } = await room.call('createLane', room.acme, {
      body: {
        name: 'Batch',
        description: 'Night work',
        selection: 'preferred',
        priority: 'batch',
        hidden: true,
      },
    });
    const sent = { name: 'Batches', default_max_wait_ms: 0, allow_fallback: false, enabled: false };
    const { body } = await room.call('updateLane', room.acme, { id: lane.id, body: sent });
    assert.deepEqual(body, { ...lane, ...sent });
    const cleared = await room.call('updateLane', room.acme, {
      id: lane.id,
      body: { ...sent, description: null },
    });
    assert.equal(cleared.body.description, null);
  });

  it('of one name created at the same moment get slugs of their own', async () => {
    const body = { name: 'Twin', takes_over: true };
    const made = await Promise.all([
      room.call('createLane', room.acme, { body }),
      room.call('createLane', room.acme, { body }),
    ]);
    assert.deepEqual(made.map(({ body }) => body.slug).sort(), ['twin', 'twin-2']);
  });

  it('keep the members that the configuration file owns, as they are', async () => {
    const { lane, membership } = await addOneOfEach(room, room.acme, 'Owned');
    await room.db
      .updateTable('lane_memberships')
      .set({ managed_by: 'file' })
      .where('id', '=', membership.id)
      .execute();
    const { body: read } = await room.call('getLane', room.acme, { id: lane.id });
    assert.equal(read.members[0]?.managed_by, 'file');
    for (const members of [[], [{ endpoint_id: membership.endpoint_id, manual_rank: 8 }]]) {
      const body = { ...read, members };
      await assert.rejects(
        room.call('updateLane', room.acme, { id: lane.id, body }),
        refusal('managed_by_file'),
      );
    }
    const body = { ...read, description: 'Around it' };
    const { body: written } = await room.call('updateLane', room.acme, { id: lane.id, body });
    assert.deepEqual(written.members, read.members);
  });

  it('written at once with other members end with one of the lists, never with a mixture', async () => {
    const { lane, endpoint, provider } = await addOneOfEach(room, room.acme, 'Raced');
    const other = await room.call('createEndpoint', room.acme, {
      body: { provider_id: provider.id, name: 'Other', upstream_model: 'other', route_kind: 'chat' },
    });
    const { body: read, headers } = await room.call('getLane', room.acme, { id: lane.id });
    const lists = [[endpoint.id, other.body.id], [other.body.id], [other.body.id, endpoint.id], []];
    const write = (ids: readonly string[]) =>
      room.call('updateLane', room.acme, {
        id: lane.id,
        body: { ...read, members: ids.map((endpoint_id) => ({ endpoint_id })) },
        headers: { 'if-match': headers.get('ETag') ?? '' },
      });
    const outcomes = await Promise.allSettled(lists.map(write));
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    const won = outcomes.findIndex(({ status }) => status === 'fulfilled');
    const { body: left } = await room.call('getLane', room.acme, { id: lane.id });
    assert.deepEqual(
      left.members.map(({ endpoint_id }) => endpoint_id),
      lists[won],
    );
  });

  it('take their memberships along when deleted', async () => {
    const { lane } = await addOneOfEach(room, room.acme, 'Gone');
    await room.call('deleteLane', room.acme, { id: lane.id });
    const { body } = await room.call('listMemberships', room.acme);
    assert.ok(body.every(({ lane_id }) => lane_id !== lane.id));
  });
});
