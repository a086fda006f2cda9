import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { GuardrailCreate, GuardrailUpdate } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { guardrailPresets } from '../../domain/guardrails/presets.ts';
import { checkRules } from '../../domain/guardrails/rules.ts';
import { checkTemplate } from '../../domain/guardrails/template.ts';
import { RelayError } from '../../domain/relay-error.ts';
import { secretBinding } from '../../store/configuration/secret-binding.ts';
import { type ManagementFixture, onPlan, refusal, startManagement } from '../fixture.ts';

const body: GuardrailCreate = { name: 'Moderation', base_url: 'https://guard.example.com/check' };
const SECRET = 'sk-the-credential-of-a-guardrail';

describe('guardrails', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let isRedisAway = false;
  const raised: number[] = [];

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, {
      fences: {
        async raise(_organizationId, version) {
          if (isRedisAway) throw new RelayError('store_unavailable', { internal: 'Redis is away' });
          raised.push(version);
        },
      },
    });
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  const create = async (over: Partial<GuardrailCreate> = {}) =>
    (await room.call('createGuardrail', room.acme, { body: { ...body, ...over } })).body;
  const update = async (id: string, change: GuardrailUpdate) =>
    (await room.call('updateGuardrail', room.acme, { id, body: change })).body;
  const secretOf = async (id: string) => {
    const row = await room.db
      .selectFrom('guardrails')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    if (row.sealed_secret === null) return null;
    const place = { organizationId: row.organization_id, ownerId: id, secretVersion: row.secret_version };
    return room.sealer.open(row.sealed_secret, secretBinding(place)).reveal();
  };

  it('are created disabled, with the defaults of the contract and a slug of their own', async () => {
    const made = await create({ name: 'A new one' });
    assert.deepEqual(made, {
      id: made.id,
      name: 'A new one',
      slug: 'a-new-one',
      preset_slug: 'custom-http',
      base_url: body.base_url,
      http_method: 'POST',
      auth_mode: 'none',
      pre_dispatch_enabled: true,
      enabled: false,
      has_credential: false,
      binding_count: 0,
      priority: 100,
      timeout_ms: 5_000,
      post_response_enabled: false,
      failure_mode: 'fail_closed',
      request_template: null,
      response_rules: null,
      secret_header_name: null,
      max_request_bytes: 1_048_576,
      max_response_bytes: 1_048_576,
    });
    assert.equal((await create({ name: 'A new one' })).slug, 'a-new-one-2');
  });

  it('keep their credential sealed: it is in no answer and no audit entry, and goes when null is sent', async () => {
    const made = await create({ auth_mode: 'bearer_static', secret: SECRET });
    assert.equal(made.has_credential, true);
    assert.equal(await secretOf(made.id), SECRET);
    const replaced = await update(made.id, { secret: `${SECRET}-2` });
    assert.equal(await secretOf(made.id), `${SECRET}-2`);
    const removed = await update(made.id, { secret: null });
    assert.equal(removed.has_credential, false);
    assert.equal(await secretOf(made.id), null);
    const audit = await room.db
      .selectFrom('audit_log')
      .selectAll()
      .where('target_id', '=', made.id)
      .execute();
    assert.equal(audit.length, 3);
    assert.ok(!JSON.stringify([made, replaced, removed, audit]).includes(SECRET));
  });

  it('never send a credential to an origin it was not entered for', async () => {
    const made = await create({ auth_mode: 'bearer_static', secret: SECRET });
    const elsewhere = 'https://elsewhere.example.com/check';
    await assert.rejects(update(made.id, { base_url: elsewhere }), refusal('conflict', 'base_url'));
    await update(made.id, { base_url: 'https://guard.example.com/other?version=2' });
    const moved = await update(made.id, { base_url: elsewhere, secret: 'sk-for-elsewhere' });
    assert.equal(moved.base_url, elsewhere);
    assert.equal(await secretOf(made.id), 'sk-for-elsewhere');
  });

  it('are not enabled without the credential they send', async () => {
    const made = await create({ auth_mode: 'bearer_static' });
    await assert.rejects(update(made.id, { enabled: true }), refusal('invalid_request', 'secret'));
    await update(made.id, { enabled: true, secret: SECRET });
    await assert.rejects(update(made.id, { secret: null }), refusal('invalid_request', 'secret'));
    assert.equal((await update(made.id, { secret: null, auth_mode: 'none' })).enabled, true);
  });

  it('are refused by the name of the field when an answer could not be judged', async () => {
    const rule = { path: '$.a', operator: 'equals', value: 1, action: 'block' } as const;
    const wrong: readonly (readonly [Partial<GuardrailCreate>, string])[] = [
      [{ preset_slug: 'no-such' }, 'preset_slug'],
      [{ base_url: 'https://127.0.0.1/x' }, 'base_url'],
      [{ base_url: 'https://guard.example.com/x#y' }, 'base_url'],
      [{ base_url: 'https://guard.example.com/x?a=b#y' }, 'base_url'],
      [{ auth_mode: 'header_static' }, 'secret_header_name'],
      [{ auth_mode: 'header_static', secret_header_name: 'Host' }, 'secret_header_name'],
      [{ secret: 'with\nbreak' }, 'secret'],
      [{ name: 'nul \0' }, 'name'],
      [{ request_template: { a: ['{{texts}}'] } }, 'request_template.a[0]'],
      [{ request_template: { a: 'x {{body}}' } }, 'request_template.a'],
      [{ request_template: { a: { b: 'nul \0' } } }, 'request_template'],
      [{ request_template: { a: '\ud800' } }, 'request_template'],
      [{ response_rules: [rule, { ...rule, path: 'a' }] }, 'response_rules[1].path'],
      [{ response_rules: [{ ...rule, operator: 'exists' }] }, 'response_rules[0].value'],
      [{ response_rules: [{ ...rule, operator: 'at_least', value: '1' }] }, 'response_rules[0].value'],
      [{ response_rules: [{ ...rule, action: 'replace', replacement: 'x' }] }, 'response_rules[0].action'],
    ];
    for (const [over, param] of wrong) await assert.rejects(create(over), refusal('invalid_request', param));
    const replaces = [{ ...rule, action: 'replace', replacement: '[removed]' }] as const;
    const post = { pre_dispatch_enabled: false, post_response_enabled: true };
    const made = await create({ response_rules: [...replaces], ...post });
    assert.deepEqual(made.response_rules, replaces);
    await assert.rejects(
      update(made.id, { pre_dispatch_enabled: true }),
      refusal('invalid_request', 'response_rules[0].action'),
    );
  });

  it('that are enabled raise the fence with every change, and can be disabled while Redis is away', async () => {
    const made = await create();
    raised.length = 0;
    await update(made.id, { name: 'Still disabled' });
    assert.deepEqual(raised, []);
    await update(made.id, { enabled: true });
    assert.deepEqual(raised, [await room.configVersion(room.acme)]);
    const global = { bindings: [{ target_type: 'global' as const }] };
    await room.call('replaceGuardrailBindings', room.acme, { id: made.id, body: global });
    assert.deepEqual(raised.slice(1), [await room.configVersion(room.acme)]);
    isRedisAway = true;
    await assert.rejects(update(made.id, { priority: 1 }), refusal('store_unavailable'));
    assert.equal((await update(made.id, { enabled: false })).enabled, false);
    await room.call('deleteGuardrail', room.acme, { id: made.id });
    isRedisAway = false;
  });

  it('are counted by the plan, and belong to one organization', async () => {
    const caller = await onPlan(room, room.globex, 'free');
    await assert.rejects(
      room.call('createGuardrail', caller, { body }),
      refusal('entitlement_missing', undefined, /0 guardrails/),
    );
    const { id } = await create();
    for (const route of ['getGuardrail', 'deleteGuardrail', 'listGuardrailBindings'] as const) {
      await assert.rejects(room.call(route, room.globex, { id }), refusal('not_found'));
    }
    await assert.rejects(
      room.call('testGuardrail', room.globex, { id, body: { text: 'x' } }),
      refusal('not_found'),
    );
    await assert.rejects(room.call('getGuardrail', room.acme, { id: randomUUIDv7() }), refusal('not_found'));
  });

  it('have presets that are checked like templates and rules of one’s own, in pages', async () => {
    for (const preset of guardrailPresets) {
      assert.equal(checkTemplate(preset.request_template), null, preset.slug);
      assert.equal(checkRules(preset.response_rules, { preDispatch: true }), null, preset.slug);
    }
    const { body: whole } = await room.call('listGuardrailPresets', room.acme);
    assert.deepEqual(
      whole.map(({ slug }) => slug),
      guardrailPresets.map(({ slug }) => slug),
    );
    const first = await room.call('listGuardrailPresets', room.acme, { query: { limit: 4 } });
    const cursor = first.headers.get('X-Next-Cursor') ?? '';
    const rest = await room.call('listGuardrailPresets', room.acme, { query: { limit: 4, cursor } });
    assert.deepEqual([...first.body, ...rest.body], whole);
    assert.equal(rest.headers.get('X-Next-Cursor'), undefined);
  });
});
