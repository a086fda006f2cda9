import assert from 'node:assert/strict';
import type { Deployment } from '../harness/deployment.ts';
import { ask, done, type Fields, fresh, made, madeEndpoints } from './management-call.ts';
import type { Manner } from './manner.ts';

interface Member {
  readonly id: string;
  readonly endpoint_id: string;
  readonly manual_rank: number;
  readonly enabled: boolean;
}

const membersOf = (lane: Fields) => lane['members'] as Member[];
const LANES = '/routing-lanes';

async function laneWith(site: Deployment, endpoints: readonly Fields[]): Promise<Fields> {
  const members = endpoints.map(({ id }) => ({ endpoint_id: id }));
  return made(site, LANES, { name: fresh('Lane'), members });
}

const replaced: Manner = {
  name: 'a lane and its members are written in one call, and members that stay keep their ids',
  async check(site) {
    const { endpoints } = await madeEndpoints(site, fresh('a'), fresh('b'), fresh('c'));
    const [a, b, c] = endpoints.map(({ id }) => id);
    const lane = await laneWith(site, endpoints.slice(0, 2));
    assert.deepEqual(
      membersOf(lane).map(({ endpoint_id, manual_rank, enabled }) => [endpoint_id, manual_rank, enabled]),
      [
        [a, 1, true],
        [b, 2, true],
      ],
    );
    const read = await done(site, 'GET', `${LANES}/${lane.id}`);
    assert.deepEqual(read.body, lane);
    const members = [{ endpoint_id: c }, { endpoint_id: a, manual_rank: 5, enabled: false }];
    const written = await ask(site, 'PUT', `${LANES}/${lane.id}`, {
      body: { ...lane, description: 'Both', members },
      ifMatch: read.etag,
    });
    assert.equal(written.status, 200, JSON.stringify(written.body));
    const after = membersOf(written.body);
    assert.deepEqual(
      after.map(({ endpoint_id, manual_rank, enabled }) => [endpoint_id, manual_rank, enabled]),
      [
        [c, 1, true],
        [a, 5, false],
      ],
    );
    assert.equal(after[1]?.id, membersOf(lane)[0]?.id, 'the member that stayed has its id');
    const { body: listed } = await done(site, 'GET', '/lane-memberships');
    const own = (listed as unknown as (Member & { lane_id: string })[]).filter(
      ({ lane_id }) => lane_id === lane.id,
    );
    assert.deepEqual(own.map(({ id }) => id).sort(), after.map(({ id }) => id).sort());
    const { body: lanes } = await done(site, 'GET', LANES);
    assert.ok((lanes as unknown as Fields[]).every((each) => !('members' in each)));
  },
};

const conflicting: Manner = {
  name: 'a membership that changed elsewhere makes the ETag of its lane another one',
  async check(site) {
    const { endpoints } = await madeEndpoints(site, fresh('a'), fresh('b'));
    const lane = await laneWith(site, endpoints.slice(0, 1));
    const path = `${LANES}/${lane.id}`;
    const member = membersOf(lane)[0]?.id;
    const changes: [string, string, object?][] = [
      ['PUT', `/lane-memberships/${member}`, { manual_rank: 9, enabled: true }],
      ['POST', '/lane-memberships', { lane_id: lane.id, endpoint_id: endpoints[1]?.id, manual_rank: 2 }],
      ['DELETE', `/lane-memberships/${member}`],
    ];
    for (const [method, changed, body] of changes) {
      const read = await done(site, 'GET', path);
      await done(site, method, changed, body);
      for (const late of ['PUT', 'DELETE']) {
        const sent = late === 'PUT' ? { body: { ...read.body, description: 'late' } } : {};
        const answer = await ask(site, late, path, { ...sent, ifMatch: read.etag });
        assert.equal(answer.status, 412, `${late} after ${method}`);
        assert.equal(answer.error.code, 'version_conflict');
      }
    }
  },
};

const whole: Manner = {
  name: 'a lane is written whole or not at all',
  async check(site) {
    const { endpoints } = await madeEndpoints(site, fresh('a'));
    const lane = await laneWith(site, endpoints);
    const path = `${LANES}/${lane.id}`;
    const read = await done(site, 'GET', path);
    const unknown = '00000000-0000-7000-8000-000000000000';
    const [own] = endpoints;
    for (const members of [
      [{ endpoint_id: unknown }],
      [{ endpoint_id: own?.id }, { endpoint_id: own?.id }],
      [{ endpoint_id: own?.id, id: unknown }],
      Array.from({ length: 1001 }, () => ({ endpoint_id: own?.id })),
    ]) {
      const answer = await ask(site, 'PUT', path, { body: { ...lane, name: 'Lost', members } });
      assert.ok([400, 404].includes(answer.status), JSON.stringify(answer.body).slice(0, 300));
      assert.match(answer.error.param ?? '', /^members/);
      const name = fresh('Never');
      const body = { name, members };
      assert.ok((await ask(site, 'POST', LANES, { body })).status >= 400);
      const { body: lanes } = await done(site, 'GET', LANES);
      assert.ok((lanes as unknown as Fields[]).every((each) => each['name'] !== name));
    }
    const now = await done(site, 'GET', path);
    assert.deepEqual([now.body, now.etag], [read.body, read.etag]);
  },
};

const audited: Manner = {
  name: 'each member that a lane gains, loses or changes has its audit entry',
  async check(site) {
    const { endpoints } = await madeEndpoints(site, fresh('a'), fresh('b'), fresh('c'));
    const lane = await laneWith(site, endpoints.slice(0, 2));
    const members = [{ endpoint_id: endpoints[2]?.id }, { endpoint_id: endpoints[1]?.id, enabled: false }];
    await done(site, 'PUT', `${LANES}/${lane.id}`, { ...lane, members });
    const { body } = await done(site, 'GET', '/audit-log?limit=3');
    const actions = (body['data'] as { action: string }[]).map(({ action }) => action);
    assert.deepEqual(actions.sort(), [
      'lane_membership.create',
      'lane_membership.delete',
      'lane_membership.update',
    ]);
  },
};

export const laneManners: readonly Manner[] = [replaced, conflicting, whole, audited];
