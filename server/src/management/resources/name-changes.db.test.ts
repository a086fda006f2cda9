import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { testSeed } from '@relay/testbed/random';
import type { Caller } from '../../domain/caller.ts';
import {
  addOneOfEach,
  addOrganization,
  type ManagementFixture,
  refusal,
  startManagement,
} from '../fixture.ts';
import { runNameActs } from './name-acts.fixture.ts';

describe('the callable names of an organization', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let caller: Caller;
  let organizations = 0;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url);
  });
  after(async () => {
    await room.close();
    await database.drop();
  });
  const empty = async () => {
    organizations += 1;
    caller = await addOrganization(room.db, `named-${organizations}`);
    return caller;
  };
  const lane = async (name: string, more: object = {}) =>
    (await room.call('createLane', caller, { body: { name, ...more } })).body;
  const rename = (id: string, name: string, more: object = {}) => {
    const body = { name, default_max_wait_ms: 1, allow_fallback: true, enabled: true, ...more };
    return room.call('updateLane', caller, { id, body });
  };

  it('stay with their lane when another lane is created, renamed or enabled under one of them', async () => {
    await empty();
    await lane('Support Bot');
    const taken = refusal('name_taken', undefined, /stands for the lane "support-bot"/);
    for (const name of ['Support Bot', 'support bot', 'SUPPORT BOT', 'support-bot'])
      await assert.rejects(lane(name), taken, name);
    const other = await lane('Other');
    await assert.rejects(rename(other.id, 'Support Bot'), taken);
    const off = await lane('Support Bot', { enabled: false });
    await assert.rejects(rename(off.id, 'Support Bot'), taken);
    const second = await lane('Support Bot', { takes_over: true });
    assert.equal(second.slug, 'support-bot-3');
    assert.ok(!('takes_over' in second));
  });

  it('return to another lane or model only with a deletion or a change that says so', async () => {
    await empty();
    const first = await lane('Prod');
    const second = await lane('Prod', { takes_over: true });
    const taken = refusal(
      'name_taken',
      undefined,
      /"Prod" stands for the lane "prod-2".* would go to the lane "prod"/,
    );
    const gone = { id: second.id };
    await assert.rejects(room.call('deleteLane', caller, gone), taken);
    await assert.rejects(rename(second.id, 'Prod', { enabled: false }), taken);
    await assert.rejects(rename(second.id, 'Elsewhere'), taken);
    await rename(second.id, 'Prod', { default_max_wait_ms: 7 });
    await room.call('deleteLane', caller, { ...gone, query: { takes_over: true } });
    await room.call('deleteLane', caller, { id: first.id });
  });

  it('of a model go to a lane or to another provider only when the write says so', async () => {
    await empty();
    const { provider, endpoint } = await addOneOfEach(room, caller, 'Open Provider');
    const taken = refusal('name_taken', 'name', /stands for the model "(?:open-provider\/)?gpt-5"/);
    for (const name of ['gpt-5', 'GPT-5', 'open-provider/gpt-5']) await assert.rejects(lane(name), taken);
    const created = await room.call('createEndpoint', caller, {
      body: { provider_id: provider.id, name: 'Same', upstream_model: 'gpt-5', route_kind: 'chat' },
    });
    assert.ok(created.body.id, 'another endpoint of the model is part of what the name stands for');
    const { body: router } = await room.call('createProvider', caller, {
      body: { name: 'Router', base_url: 'https://router.example.com/v1' },
    });
    const routed = {
      provider_id: router.id,
      name: 'R',
      upstream_model: 'open-provider/x',
      route_kind: 'chat' as const,
    };
    await room.call('createEndpoint', caller, { body: routed });
    const own = { provider_id: provider.id, name: 'X', upstream_model: 'x', route_kind: 'chat' as const };
    const spelled = refusal(
      'name_taken',
      'upstream_model',
      /"open-provider\/x" stands for the model "open-provider\/x"/,
    );
    await assert.rejects(room.call('createEndpoint', caller, { body: own }), spelled);
    const { id } = endpoint;
    await assert.rejects(room.call('updateEndpoint', caller, { id, body: { upstream_model: 'x' } }), spelled);
    await room.call('createEndpoint', caller, { body: { ...own, takes_over: true } });
  });

  it('of a lane are refused to a model that differs from them in case or white space alone', async () => {
    await empty();
    const { provider, endpoint } = await addOneOfEach(room, caller, 'Open Provider');
    await lane('fast-one');
    const like = refusal(
      'name_taken',
      'upstream_model',
      /"fast-one" stands for the lane "fast-one", and a name/,
    );
    const body = { provider_id: provider.id, name: 'Like', route_kind: 'chat' as const };
    for (const upstream_model of ['FAST-ONE', ' fast-one']) {
      await assert.rejects(room.call('createEndpoint', caller, { body: { ...body, upstream_model } }), like);
      const change = { id: endpoint.id, body: { upstream_model } };
      await assert.rejects(room.call('updateEndpoint', caller, change), like);
    }
    const said = { ...body, upstream_model: 'FAST-ONE', takes_over: true };
    await room.call('createEndpoint', caller, { body: said });
    await room.call('createEndpoint', caller, { body: { ...body, upstream_model: 'GPT-5' } });
  });

  it('that two writes give at the same moment go to one of them', async () => {
    await empty();
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => lane('Twin')));
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
  });

  it('are changed by a file only when the apply says so, and its plan shows them', async () => {
    await empty();
    await lane('Support Bot');
    const config = { version: 1 as const, lanes: [{ slug: 'bot', name: 'Support Bot' }] };
    const { body: plan } = await room.call('planConfig', caller, { body: { config } });
    const [before, after] = ['support-bot', 'bot'].map((name) => ({ kind: 'lane' as const, name }));
    assert.deepEqual(plan.name_changes, [{ name: 'Support Bot', kind: 'taken', before, after }]);
    await assert.rejects(room.call('applyConfig', caller, { body: { config } }), refusal('name_taken'));
    await room.call('applyConfig', caller, { body: { config, takes_over: true } });
    const { body: again } = await room.call('applyConfig', caller, { body: { config } });
    assert.deepEqual(again.name_changes, []);
  });

  it('that exist twice stay as they are, also for a file that is exported and applied elsewhere', async () => {
    await empty();
    await lane('Prod');
    const second = await lane('Prod', { takes_over: true });
    await rename(second.id, 'Prod', { default_max_wait_ms: 9 });
    await lane('Third');
    const { body: config } = await room.call('exportConfig', caller);
    await empty();
    await room.call('applyConfig', caller, { body: { config } });
    assert.deepEqual((await room.call('exportConfig', caller)).body, config);
  });

  it('stand for the same after any act that did not say otherwise', async () => {
    const result = await runNameActs(room, testSeed(), 200);
    process.stdout.write(`${JSON.stringify(result)}\n`);
    assert.ok(result.silent > 0 && result.said > 0 && result.changed > 0, JSON.stringify(result));
  });
});
