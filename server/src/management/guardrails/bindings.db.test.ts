import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { GuardrailBindingsUpdate } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { addOneOfEach, type ManagementFixture, refusal, startManagement } from '../fixture.ts';

describe('guardrail bindings', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let made: Awaited<ReturnType<typeof addOneOfEach>>;
  let id: string;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url);
    made = await addOneOfEach(room, room.acme);
    const guardrail = { name: 'G', base_url: 'https://guard.example.com/check' };
    id = (await room.call('createGuardrail', room.acme, { body: guardrail })).body.id;
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  const replace = (bindings: GuardrailBindingsUpdate['bindings'], headers: Record<string, string> = {}) =>
    room.call('replaceGuardrailBindings', room.acme, { id, body: { bindings }, headers });
  const detail = async () => (await room.call('getGuardrail', room.acme, { id })).body;

  it('are one set: those that stay keep their ids, those not listed go', async () => {
    const lane = { target_type: 'lane', target_id: made.lane.id } as const;
    const { body: first } = await replace([{ target_type: 'global' }, lane]);
    assert.deepEqual(
      first.map(({ target_type, target_id, enabled }) => [target_type, target_id, enabled]),
      [
        ['global', null, true],
        ['lane', made.lane.id, true],
      ],
    );
    const provider = { target_type: 'provider', target_id: made.provider.id } as const;
    const { body: second } = await replace([{ ...lane, enabled: false }, provider]);
    assert.equal(second[0]?.id, first[1]?.id);
    assert.equal(second[0]?.enabled, false);
    const { guardrail, bindings } = await detail();
    assert.equal(guardrail.binding_count, 2);
    assert.deepEqual(bindings, second);
    assert.deepEqual((await room.call('listGuardrailBindings', room.acme, { id })).body, second);
  });

  it('change the version of the guardrail, and are told in the audit log', async () => {
    const read = await room.call('getGuardrail', room.acme, { id });
    const tag = read.headers.get('ETag') ?? '';
    const { requestId, headers } = await replace([{ target_type: 'global' }], { 'if-match': tag });
    assert.notEqual(headers.get('ETag'), tag);
    await assert.rejects(replace([], { 'if-match': tag }), refusal('version_conflict'));
    const entry = await room.db
      .selectFrom('audit_log')
      .selectAll()
      .where('request_id', '=', requestId)
      .executeTakeFirstOrThrow();
    assert.equal(entry.action, 'guardrail.update');
    const { bindings } = entry.after as { bindings: unknown[] };
    assert.deepEqual(bindings, [{ target_type: 'global', target_id: null, enabled: true }]);
  });

  it('name things of the organization, each once', async () => {
    const foreign = await addOneOfEach(room, room.globex);
    const lane = { target_type: 'lane', target_id: made.lane.id } as const;
    const unknown: GuardrailBindingsUpdate['bindings'] = [
      { target_type: 'lane', target_id: foreign.lane.id },
      { target_type: 'endpoint', target_id: made.lane.id },
      { target_type: 'lane', target_id: randomUUIDv7() },
      { target_type: 'lane', target_id: 'x' },
    ];
    const wrong: readonly (readonly [GuardrailBindingsUpdate['bindings'], string])[] = [
      [[{ target_type: 'lane' }], 'bindings[0].target_id'],
      [[{ target_type: 'global', target_id: made.lane.id }], 'bindings[0].target_id'],
      [[lane, lane], 'bindings[1].target_id'],
    ];
    const before = await detail();
    for (const binding of unknown)
      await assert.rejects(replace([binding]), refusal('not_found', 'bindings[0].target_id'));
    for (const [bindings, param] of wrong) {
      await assert.rejects(replace(bindings), refusal('invalid_request', param));
    }
    assert.deepEqual(await detail(), before);
  });

  it('go with what they are bound to', async () => {
    const { body: lane } = await room.call('createLane', room.acme, { body: { name: 'Going' } });
    await replace([{ target_type: 'lane', target_id: lane.id }]);
    await room.call('deleteLane', room.acme, { id: lane.id });
    assert.deepEqual((await detail()).bindings, []);
  });
});
