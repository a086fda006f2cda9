import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { addOneOfEach, type ManagementFixture, refusal, startManagement } from '../fixture.ts';

describe('lane memberships', () => {
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

  it('put an endpoint into a lane once, also when asked twice at the same moment', async () => {
    const { lane, endpoint } = await addOneOfEach(room, room.acme, 'Once');
    await assert.rejects(
      room.call('createMembership', room.acme, {
        body: { lane_id: lane.id, endpoint_id: endpoint.id, manual_rank: 2 },
      }),
      refusal('conflict', 'endpoint_id', /already in the lane "Once"/),
    );
    const { body: second } = await room.call('createLane', room.acme, { body: { name: 'Second' } });
    const body = { lane_id: second.id, endpoint_id: endpoint.id, manual_rank: 1 };
    const outcomes = await Promise.allSettled(
      Array.from({ length: 4 }, () => room.call('createMembership', room.acme, { body })),
    );
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    assert.equal(refused.length, 3);
    for (const { reason } of refused) assert.ok(refusal('conflict', 'endpoint_id')(reason));
  });

  it('change rank and switch', async () => {
    const { membership } = await addOneOfEach(room, room.acme, 'Ranked');
    const { body } = await room.call('updateMembership', room.acme, {
      id: membership.id,
      body: { manual_rank: 7, enabled: false },
    });
    assert.deepEqual(body, { ...membership, manual_rank: 7, enabled: false });
  });

  it('need a lane and an endpoint of the same organization', async () => {
    const mine = await addOneOfEach(room, room.acme, 'Mine');
    const foreign = await addOneOfEach(room, room.globex, 'Foreign');
    await assert.rejects(
      room.call('createMembership', room.acme, {
        body: { lane_id: foreign.lane.id, endpoint_id: mine.endpoint.id, manual_rank: 1 },
      }),
      refusal('not_found', 'lane_id'),
    );
    await assert.rejects(
      room.call('createMembership', room.acme, {
        body: { lane_id: mine.lane.id, endpoint_id: foreign.endpoint.id, manual_rank: 1 },
      }),
      refusal('not_found', 'endpoint_id'),
    );
  });
});
