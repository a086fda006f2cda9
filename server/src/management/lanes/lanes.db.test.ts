import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { addOneOfEach, type ManagementFixture, startManagement } from '../fixture.ts';

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
        selection: 'soonest',
        hidden: false,
        enabled: true,
      },
    );
  });

  it('keep their slug and what an update leaves out', async () => {
    const { body: lane } = await room.call('createLane', room.acme, {
      body: { name: 'Batch', description: 'Night work', selection: 'preferred', hidden: true },
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
    const made = await Promise.all([
      room.call('createLane', room.acme, { body: { name: 'Twin' } }),
      room.call('createLane', room.acme, { body: { name: 'Twin' } }),
    ]);
    assert.deepEqual(made.map(({ body }) => body.slug).sort(), ['twin', 'twin-2']);
  });

  it('take their memberships along when deleted', async () => {
    const { lane } = await addOneOfEach(room, room.acme, 'Gone');
    await room.call('deleteLane', room.acme, { id: lane.id });
    const { body } = await room.call('listMemberships', room.acme);
    assert.ok(body.every(({ lane_id }) => lane_id !== lane.id));
  });
});
