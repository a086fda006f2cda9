import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { changeAccess } from '../configuration/config-version.ts';
import {
  type MigratedDatabase,
  migratedDatabase,
  seedOrganization,
} from '../fixtures/migrated-database.fixture.ts';
import { createKeyBudgets } from './key-budgets.ts';

const NONE = { policies: [], teamId: null };

describe('budgets of keys, by the id of the key', () => {
  let migrated: MigratedDatabase;
  let place: Awaited<ReturnType<typeof seedOrganization>>;
  before(async () => {
    migrated = await migratedDatabase();
    place = await seedOrganization(migrated.db);
  });
  after(() => migrated.drop());

  async function addKey(): Promise<string> {
    const id = randomUUIDv7();
    await migrated.db
      .insertInto('api_keys')
      .values({
        organization_id: place.organizationId,
        id,
        user_id: place.userId,
        name: 'Main',
        public_id: id.replaceAll('-', '').slice(-10),
        secret_hmac: Buffer.alloc(32),
        scopes: ['relay:request'],
      })
      .execute();
    return id;
  }

  /** Returns the version from which the limit applies. */
  async function addBudget(keyId: string, limit: number, enabled = true): Promise<number> {
    const { version } = await changeAccess(migrated.db, place.organizationId, async (tx) => {
      await tx
        .insertInto('api_key_limit_policies')
        .values({
          organization_id: place.organizationId,
          id: randomUUIDv7(),
          api_key_id: keyId,
          target_type: 'model',
          target_id: place.endpointId,
          metric: limit % 2 === 0 ? 'tokens' : 'requests',
          period: enabled ? 'day' : 'hour',
          limit_value: limit,
          enabled,
        })
        .execute();
      return { result: null, keyIds: [keyId] };
    });
    return version;
  }

  it('are those of the key that are in force, and no others', async () => {
    const [keyId, otherId] = [await addKey(), await addKey()];
    await addBudget(keyId, 7);
    await addBudget(keyId, 9, false);
    const version = await addBudget(otherId, 11);
    const budgets = createKeyBudgets({ db: migrated.db, keysMax: 10 });
    const found = await budgets.of(place.organizationId, keyId, version);
    assert.deepEqual(
      found.policies.map(({ id: _id, ...rest }) => rest),
      [
        {
          kind: 'api_key',
          subjectId: keyId,
          targetType: 'model',
          targetId: place.endpointId,
          metric: 'requests',
          period: 'day',
          limitValue: 7,
          unpriced: 'refuse',
          enforcement: 'estimate',
          counter: 0,
        },
      ],
    );
    assert.deepEqual(await budgets.of(place.organizationId, await addKey(), version), NONE);
    assert.deepEqual(await budgets.of(randomUUIDv7(), keyId, version), NONE);
  });

  it('come with the team and the labels of the key', async () => {
    const keyId = await addKey();
    const { organizationId } = place;
    const team = { organization_id: organizationId, id: randomUUIDv7(), name: 'Search', slug: 'search' };
    await migrated.db
      .insertInto('teams')
      .values({ ...team, kind: 'team' })
      .execute();
    await migrated.db
      .updateTable('api_keys')
      .set({ team_id: team.id, labels: JSON.stringify({ app: 'search' }) })
      .where('id', '=', keyId)
      .execute();
    const budgets = createKeyBudgets({ db: migrated.db, keysMax: 10 });
    assert.deepEqual(await budgets.of(organizationId, keyId, 0), {
      policies: [],
      teamId: team.id,
      labels: { app: 'search' },
    });
  });

  it('come from memory until the configuration changes', async () => {
    const keyId = await addKey();
    const versionBefore = await addBudget(keyId, 1);
    const budgets = createKeyBudgets({ db: migrated.db, keysMax: 10 });
    await budgets.of(place.organizationId, keyId, versionBefore);
    const versionAfter = await addBudget(keyId, 2);
    const held = budgets.of(place.organizationId, keyId, versionBefore);
    assert.ok(!(held instanceof Promise));
    assert.equal(held.policies.length, 1);
    assert.equal((await budgets.of(place.organizationId, keyId, versionAfter)).policies.length, 2);
    assert.ok(!(budgets.of(place.organizationId, keyId, versionAfter) instanceof Promise));
  });

  it('are kept for no more keys than were allowed', async () => {
    const keys = [await addKey(), await addKey(), await addKey()] as const;
    const budgets = createKeyBudgets({ db: migrated.db, keysMax: 2 });
    for (const keyId of keys) await budgets.of(place.organizationId, keyId, 0);
    assert.ok(budgets.of(place.organizationId, keys[0], 0) instanceof Promise);
    assert.ok(!(budgets.of(place.organizationId, keys[2], 0) instanceof Promise));
  });
});
