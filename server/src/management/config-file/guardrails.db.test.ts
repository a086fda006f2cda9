import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ConfigFile } from '@relay/contract';
import { allScopes } from '@relay/contract';
import type { Caller } from '../../domain/caller.ts';
import { secretBinding } from '../../store/configuration/secret-binding.ts';
import { asKey, onPlan, refusal } from '../fixture.ts';
import { configFileRoom, smallFile, withSecret } from './config-file.fixture.ts';

const rule = { path: '$.bad', operator: 'equals', value: true, action: 'block' } as const;
const otherwise = { path: '$', operator: 'exists', action: 'allow' } as const;

/** The small file with a custom and a preset guardrail, bound to a lane, an endpoint and everything. */
function guardedFile() {
  return {
    ...smallFile(),
    guardrails: [
      {
        name: 'Own',
        base_url: 'https://guard.example.com/check',
        auth_mode: 'bearer_static',
        secret_ref: 'env:GUARD_KEY',
        priority: 5,
        enabled: true,
        request_template: { z: '{{text}}', a: ['{{model}}'] },
        response_rules: [rule, otherwise],
      },
      { name: 'By preset', base_url: 'https://guard.example.com/v2', preset_slug: 'custom-http' },
    ],
    guardrail_bindings: [
      { guardrail: 'own', target_type: 'global' },
      { guardrail: 'own', target_type: 'lane', target: 'fast', enabled: false },
      { guardrail: 'by-preset', target_type: 'endpoint', target: 'model' },
    ],
  } satisfies ConfigFile;
}

const secrets = { ...withSecret.secrets, 'env:GUARD_KEY': 'sk-of-the-guardrail' };

describe('guardrails in the configuration file', () => {
  const { room, empty, exported, plan, apply } = configFileRoom();

  async function storedSecret({ organizationId }: Caller): Promise<string | null> {
    const row = await room()
      .db.selectFrom('guardrails')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('slug', '=', 'own')
      .executeTakeFirstOrThrow();
    if (row.sealed_secret === null) return null;
    const place = { organizationId, ownerId: row.id, secretVersion: row.secret_version };
    return room().sealer.open(row.sealed_secret, secretBinding(place)).reveal();
  }

  it('are applied with their bindings, change nothing when applied again, and are the same in another organization', async () => {
    const caller = await empty();
    const { creates, required_secrets } = await plan(caller, guardedFile());
    assert.equal(creates, 12);
    assert.deepEqual(required_secrets, ['env:GUARD_KEY', 'env:MAIN_KEY']);
    await apply(caller, guardedFile(), { secrets });
    assert.equal(await storedSecret(caller), 'sk-of-the-guardrail');
    assert.deepEqual((await apply(caller, guardedFile(), { secrets })).changes, []);
    const file = await exported(caller);
    const elsewhere = await empty();
    await apply(elsewhere, file, { secrets });
    assert.equal(JSON.stringify(await exported(elsewhere)), JSON.stringify(file));
    assert.equal(await storedSecret(elsewhere), 'sk-of-the-guardrail');
  });

  it('raise the fence with the version of the apply, and again when one that failed there is repeated', async () => {
    const caller = await empty();
    const raised = () =>
      room().raised.filter(({ organizationId }) => organizationId === caller.organizationId);
    await apply(caller, smallFile(), withSecret);
    assert.deepEqual(raised(), []);
    await apply(caller, guardedFile(), { secrets });
    const version = await room().configVersion(caller);
    assert.deepEqual(raised(), [{ organizationId: caller.organizationId, version }]);
    await apply(caller, guardedFile(), { secrets });
    assert.equal(raised().length, 2);
  });

  it('say which field changes, whatever the order of the members in a template', async () => {
    const caller = await empty();
    const file = guardedFile();
    await apply(caller, file, { secrets });
    const reordered = { a: ['{{model}}'], z: '{{text}}' };
    const [own, other] = file.guardrails;
    const changed = { ...file, guardrails: [{ ...own, request_template: reordered, timeout_ms: 9 }, other] };
    const { changes } = await plan(caller, changed as ConfigFile);
    assert.deepEqual(
      changes.map(({ section, key, fields }) => ({ section, key, fields })),
      [
        {
          section: 'guardrails',
          key: 'own',
          fields: [{ field: 'timeout_ms', before: 5_000, after: 9 }],
        },
      ],
    );
  });

  it('are refused as the routes would, at their place in the file', async () => {
    const caller = await empty();
    const file = guardedFile();
    const [own] = file.guardrails;
    const withOne = (over: object) => ({ ...file, guardrails: [{ ...own, ...over }] }) as ConfigFile;
    const wrong: readonly (readonly [ConfigFile, string])[] = [
      [withOne({ preset_slug: 'no-such' }), 'guardrails[0].preset_slug'],
      [withOne({ secret_ref: null }), 'guardrails[0].secret_ref'],
      [withOne({ request_template: { a: '{{b}}' } }), 'guardrails[0].request_template.a'],
      [withOne({ response_rules: [{ ...rule, path: 'x' }] }), 'guardrails[0].response_rules[0].path'],
      [
        { ...file, guardrail_bindings: [{ guardrail: 'own', target_type: 'lane' }] },
        'guardrail_bindings[0].target',
      ],
      [
        { ...file, guardrail_bindings: [{ guardrail: 'own', target_type: 'lane', target: 'no-such' }] },
        'guardrail_bindings[0].target',
      ],
      [
        { ...file, guardrail_bindings: [{ guardrail: 'no-such', target_type: 'global' }] },
        'guardrail_bindings[0].guardrail',
      ],
    ];
    for (const [config, param] of wrong) {
      await assert.rejects(plan(caller, config), refusal('invalid_request', param));
    }
  });

  it('need their secret again at another origin, and lose it when the file no longer refers to one', async () => {
    const caller = await empty();
    const file = guardedFile();
    await apply(caller, file, { secrets });
    const [own, other] = file.guardrails;
    const moved = { ...file, guardrails: [{ ...own, base_url: 'https://evil.example/check' }, other] };
    await assert.rejects(
      apply(caller, moved as ConfigFile),
      refusal('invalid_request', 'guardrails[0].secret_ref'),
    );
    await apply(caller, moved as ConfigFile, { secrets });
    const without = { ...file, guardrails: [{ ...own, auth_mode: 'none', secret_ref: null }, other] };
    await apply(caller, without as ConfigFile);
    assert.equal(await storedSecret(caller), null);
  });

  it('are the file’s: other writers are refused, also by way of what they are bound to', async () => {
    const caller = await empty();
    await apply(caller, guardedFile(), { secrets });
    const { call } = room();
    const { body: listed } = await call('listGuardrails', caller);
    const own = listed.find(({ slug }) => slug === 'own');
    assert.equal(own?.managed_by, 'file');
    const id = own?.id ?? '';
    const { body: bindings } = await call('listGuardrailBindings', caller, { id });
    await assert.rejects(
      call('updateGuardrail', caller, { id, body: { enabled: false } }),
      refusal('managed_by_file'),
    );
    await assert.rejects(
      call('replaceGuardrailBindings', caller, { id, body: { bindings: [] } }),
      refusal('managed_by_file'),
    );
    const kept = bindings.map(({ target_type, target_id, enabled }) => ({ target_type, target_id, enabled }));
    const { body: lane } = await call('createLane', caller, { body: { name: 'By hand' } });
    const more = [...kept, { target_type: 'lane' as const, target_id: lane.id }];
    await assert.rejects(
      call('replaceGuardrailBindings', caller, { id, body: { bindings: more } }),
      refusal('managed_by_file', undefined, /guardrail "Own"/),
    );
    const { body: after } = await call('replaceGuardrailBindings', caller, { id, body: { bindings: kept } });
    assert.deepEqual(
      after.map(({ managed_by }) => managed_by),
      ['file', 'file'],
    );
  });

  it('need the scope for guardrails, and a file without them does not', async () => {
    const caller = await empty();
    const free = await onPlan(room(), caller, 'free');
    await apply(free, smallFile(), withSecret);
    await assert.rejects(apply(free, guardedFile(), { secrets }), refusal('entitlement_missing'));
    await onPlan(room(), caller, 'self_hosted');
    const key = asKey(
      caller,
      allScopes.filter((scope) => scope !== 'relay:guardrails:manage'),
    );
    await assert.rejects(apply(key, guardedFile(), { secrets }), refusal('insufficient_scope'));
    await apply(caller, guardedFile(), { secrets });
    await apply(key, smallFile(), withSecret);
    await assert.rejects(
      apply(key, smallFile(), { ...withSecret, prune: true }),
      refusal('insufficient_scope'),
    );
  });
});
