import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { RouteBody, RouteId } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { addOneOfEach, type ManagementFixture, refusal, startManagement } from './fixture.ts';

type Owned = Awaited<ReturnType<typeof addOneOfEach>>;

/** Every resource of the module, with a change that is allowed within one's own organization. */
const resources: readonly {
  readonly name: keyof Owned;
  readonly list: RouteId;
  readonly get?: RouteId;
  readonly update: RouteId;
  readonly change: object;
  readonly remove: RouteId;
}[] = [
  {
    name: 'provider',
    list: 'listProviders',
    get: 'getProvider',
    update: 'updateProvider',
    change: { enabled: false },
    remove: 'deleteProvider',
  },
  {
    name: 'credential',
    list: 'listCredentials',
    update: 'updateCredential',
    change: { enabled: false },
    remove: 'deleteCredential',
  },
  {
    name: 'endpoint',
    list: 'listEndpoints',
    get: 'getEndpoint',
    update: 'updateEndpoint',
    change: { enabled: false },
    remove: 'deleteEndpoint',
  },
  {
    name: 'lane',
    list: 'listLanes',
    get: 'getLane',
    update: 'updateLane',
    change: { name: 'Taken', default_max_wait_ms: 1, allow_fallback: false, enabled: false },
    remove: 'deleteLane',
  },
  {
    name: 'membership',
    list: 'listMemberships',
    get: 'getMembership',
    update: 'updateMembership',
    change: { manual_rank: 9, enabled: false },
    remove: 'deleteMembership',
  },
  {
    name: 'pricing',
    list: 'listPricingPolicies',
    update: 'updatePricingPolicy',
    change: { flat_request_cost_micros: 9 },
    remove: 'deletePricingPolicy',
  },
  {
    name: 'limitPolicy',
    list: 'listLimitPolicies',
    get: 'getLimitPolicy',
    update: 'updateLimitPolicy',
    change: { scope_type: 'global', metric: 'requests', period: 'minute', limit_value: 0, enabled: false },
    remove: 'deleteLimitPolicy',
  },
];

describe('two organizations with resources of the same names', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let ours: Owned;
  let theirs: Owned;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url);
    ours = await addOneOfEach(room, room.acme);
    theirs = await addOneOfEach(room, room.globex);
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  for (const { name, list, get, update, change, remove } of resources) {
    it(`list only their own ${name}`, async () => {
      for (const [caller, owned] of [
        [room.acme, ours],
        [room.globex, theirs],
      ] as const) {
        const { body } = await room.call(list, caller);
        assert.deepEqual(
          (body as { id: string }[]).map(({ id }) => id),
          [owned[name].id],
        );
      }
    });

    it(`cannot read, change or delete one another's ${name}, and a try leaves no trace`, async () => {
      const { id } = theirs[name];
      const versionBefore = await room.configVersion(room.globex);
      const seen = async () => (await room.call(list, room.globex)).body;
      const before = await seen();
      if (get !== undefined) await assert.rejects(room.call(get, room.acme, { id }), refusal('not_found'));
      await assert.rejects(
        room.call(update, room.acme, { id, body: change as RouteBody<typeof update> }),
        refusal('not_found'),
      );
      await assert.rejects(room.call(remove, room.acme, { id }), refusal('not_found'));
      assert.deepEqual(await seen(), before);
      assert.equal(await room.configVersion(room.globex), versionBefore);
    });
  }

  it('resolve the same lane name to their own endpoints', async () => {
    const ask = { body: { operation: 'chat' as const, body: { model: 'main', messages: [] } } };
    const { body } = await room.call('explainRouting', room.globex, ask);
    assert.equal(body.selected_endpoint_id, theirs.endpoint.id);
    assert.equal(body.lane_id, theirs.lane.id);
  });
});
