import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { EditedLane, LaneDetail } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { type ManagementFixture, refusal, startManagement } from '../fixture.ts';

describe('an explanation of an unsaved edit', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let lane: LaneDetail;
  let endpointIds: readonly string[];

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url);
    const { body: provider } = await room.call('createProvider', room.acme, {
      body: { name: 'Provider', base_url: 'https://api.example.com/v1' },
    });
    await room.call('createCredential', room.acme, {
      body: { provider_id: provider.id, name: 'Key', secret: 'sk-x' },
    });
    const ids: string[] = [];
    for (const name of ['A', 'B', 'C']) {
      const { body } = await room.call('createEndpoint', room.acme, {
        body: { provider_id: provider.id, name, upstream_model: 'model', route_kind: 'chat' },
      });
      ids.push(body.id);
    }
    endpointIds = ids;
    const members = ids.slice(0, 2).map((endpoint_id) => ({ endpoint_id }));
    lane = (await room.call('createLane', room.acme, { body: { name: 'Fast', members } })).body;
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  async function explain(edited?: Partial<EditedLane>) {
    const body = { model: 'fast', messages: [{ role: 'user', content: 'Hello' }] };
    const { members: _members, ...fields } = lane;
    const edit = edited === undefined ? {} : { edited_lane: { ...fields, ...edited } };
    return (await room.call('explainRouting', room.acme, { body: { operation: 'chat', body, ...edit } }))
      .body;
  }
  const endpoint = (at: number) => endpointIds[at] ?? '';

  it('has the edited candidates, order and wait budget', async () => {
    assert.equal((await explain()).selected_endpoint_id, endpoint(0));
    const members = [
      { endpoint_id: endpoint(2) },
      { endpoint_id: endpoint(1), enabled: false },
      { endpoint_id: endpoint(0) },
    ];
    const answer = await explain({ members, default_max_wait_ms: 1_234 });
    assert.equal(answer.lane_id, lane.id);
    assert.equal(answer.wait_budget_ms, 1_234);
    assert.deepEqual(
      answer.candidates.map(({ endpoint_id, rank, verdict }) => [endpoint_id, rank, verdict]),
      [
        [endpoint(2), 1, 'selected'],
        [endpoint(1), 2, 'disabled'],
        [endpoint(0), 3, 'available'],
      ],
    );
    assert.equal((await explain({ enabled: false })).outcome, 'refuse');
  });

  it('saves nothing', async () => {
    const version = await room.configVersion(room.acme);
    const audited = async () => (await room.call('listAuditLog', room.acme, { query: {} })).body;
    const entries = await audited();
    await explain({ name: 'Other', members: [], priority: 'batch' });
    assert.deepEqual((await room.call('getLane', room.acme, { id: lane.id })).body, lane);
    assert.equal(await room.configVersion(room.acme), version);
    assert.deepEqual(await audited(), entries);
    assert.equal((await explain()).selected_endpoint_id, endpoint(0));
  });

  it('is rejected as a save would be', async () => {
    await assert.rejects(explain({ name: 'model' }), refusal('name_taken'));
    await assert.rejects(
      explain({ members: [{ endpoint_id: 'nothing' }] }),
      refusal('not_found', 'members[0].endpoint_id'),
    );
    await assert.rejects(explain({ slug: 'another' }), refusal('invalid_request', 'slug'));
    const foreign = room.call('explainRouting', room.globex, {
      body: { operation: 'chat', body: { model: 'fast', messages: [] }, edited_lane: lane },
    });
    await assert.rejects(foreign, refusal('not_found'));
  });
});
