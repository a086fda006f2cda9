import assert from 'node:assert/strict';
import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Insertable } from 'kysely';
import { presetOf } from '../../domain/guardrails/presets.ts';
import { systemClock } from '../../kit/clock.ts';
import { createSealer } from '../../kit/seal.ts';
import {
  type MigratedDatabase,
  migratedDatabase,
  seedOrganization,
  silentLog,
} from '../fixtures/migrated-database.fixture.ts';
import type { Database } from '../postgres/schema.ts';
import { loadSnapshot } from './load-snapshot.ts';
import { secretBinding } from './secret-binding.ts';

const sealer = createSealer({ primary: randomBytes(32) });

describe('the guardrails of a snapshot', () => {
  let migrated: MigratedDatabase;
  let seeded: Awaited<ReturnType<typeof seedOrganization>>;
  let organizationId: string;

  before(async () => {
    migrated = await migratedDatabase();
  });
  beforeEach(async () => {
    seeded = await seedOrganization(migrated.db);
    ({ organizationId } = seeded);
  });
  after(() => migrated.drop());

  async function add(slug: string, over: Partial<Insertable<Database['guardrails']>> = {}): Promise<string> {
    const id = over.id ?? randomUUIDv7();
    await migrated.db
      .insertInto('guardrails')
      .values({
        organization_id: organizationId,
        id,
        name: slug,
        slug,
        preset_slug: 'custom-http',
        base_url: 'https://judge.example/check',
        pre_dispatch_enabled: true,
        enabled: true,
        ...over,
      })
      .execute();
    return id;
  }
  async function bind(guardrailId: string, over: Partial<Insertable<Database['guardrail_bindings']>> = {}) {
    await migrated.db
      .insertInto('guardrail_bindings')
      .values({
        organization_id: organizationId,
        id: randomUUIDv7(),
        guardrail_id: guardrailId,
        target_type: 'global',
        ...over,
      })
      .execute();
  }
  async function load() {
    const found = await loadSnapshot(
      { db: migrated.db, sealer, clock: systemClock, log: silentLog },
      organizationId,
    );
    return found?.guardrails ?? [];
  }

  it('are those that are enabled and have an enabled binding, by priority, then id', async () => {
    for (const [slug, over, binding] of [
      ['late', { priority: 200 }, {}],
      ['first', {}, {}],
      ['second', {}, {}],
      ['early', { priority: -1 }, {}],
      ['disabled', { enabled: false }, {}],
      ['unbound', {}, { enabled: false }],
    ] as const)
      await bind(await add(slug, over), binding);
    await add('bindingless');
    assert.deepEqual(
      (await load()).map(({ slug }) => slug),
      ['early', 'first', 'second', 'late'],
    );
  });

  it('know the bindings that are enabled', async () => {
    const id = await add('g');
    await bind(id, { target_type: 'lane', target_id: seeded.laneId });
    await bind(id, { target_type: 'provider', target_id: seeded.providerId, enabled: false });
    await bind(id);
    assert.deepEqual((await load())[0]?.bindings, [
      { targetType: 'lane', targetId: seeded.laneId },
      { targetType: 'global', targetId: null },
    ]);
  });

  it('are asked and judged by their preset where they say nothing themselves', async () => {
    await bind(await add('preset', { priority: 1, preset_slug: 'openai-moderation' }));
    const rules = [{ path: '$.ok', operator: 'equals', value: true, action: 'allow' }];
    const own = {
      request_template: JSON.stringify({ q: '{{text}}' }),
      response_rules: JSON.stringify(rules),
    };
    await bind(await add('own', { priority: 2, preset_slug: 'openai-moderation', ...own }));
    await bind(await add('unknown', { priority: 3, preset_slug: 'of a later version' }));
    const [preset, mine, unknown] = await load();
    assert.deepEqual(preset?.template, presetOf('openai-moderation')?.request_template);
    assert.deepEqual(preset?.rules, presetOf('openai-moderation')?.response_rules);
    assert.deepEqual([mine?.template, mine?.rules], [{ q: '{{text}}' }, rules]);
    assert.deepEqual(unknown?.rules, []);
    assert.equal(preset?.maxRequestBytes, 1_048_576);
  });

  it('have their secret, and one that does not open leaves the others as they are', async () => {
    const id = randomUUIDv7();
    const binding = secretBinding({ organizationId, ownerId: id, secretVersion: 1 });
    const auth = { auth_mode: 'bearer_static', key_id: sealer.keyId } as const;
    await bind(
      await add('good', { id, priority: 1, sealed_secret: sealer.seal('s3cret', binding), ...auth }),
    );
    // Sealed for another guardrail, so it does not open here.
    await bind(await add('moved', { priority: 2, sealed_secret: sealer.seal('s3cret', binding), ...auth }));
    const [good, moved] = await load();
    assert.equal(good?.secret?.reveal(), 's3cret');
    assert.equal(moved?.secret, null);
    assert.ok(!JSON.stringify(good).includes('s3cret'));
  });
});
