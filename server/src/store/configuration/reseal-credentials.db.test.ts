import assert from 'node:assert/strict';
import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createSealer, type Sealer } from '../../kit/seal.ts';
import {
  type MigratedDatabase,
  migratedDatabase,
  seedOrganization,
  silentLog,
} from '../fixtures/migrated-database.fixture.ts';
import { resealCredentials } from './reseal-credentials.ts';
import { secretBinding } from './secret-binding.ts';

describe('rotation of the master key', () => {
  let migrated: MigratedDatabase;
  before(async () => {
    migrated = await migratedDatabase();
  });
  after(() => migrated.drop());

  function seedWith(sealer: Sealer, text: string) {
    return seedOrganization(migrated.db, {
      sealed: ({ organizationId, providerId }) => ({
        secret: sealer.seal(text, secretBinding({ organizationId, ownerId: providerId, secretVersion: 1 })),
        keyId: sealer.keyId,
      }),
    });
  }

  it('seals every secret under the new key, skips what it cannot open, and may run twice concurrently', async () => {
    const { db } = migrated;
    const [oldKey, newKey, lostKey] = [randomBytes(32), randomBytes(32), randomBytes(32)];
    const old = createSealer({ primary: oldKey });
    const lost = createSealer({ primary: lostKey });
    const seeded = await Promise.all(
      Array.from({ length: 7 }, (_, index) => seedWith(old, `secret ${index}`)),
    );
    const unreadable = await seedWith(lost, 'gone');
    const [guarded] = seeded;
    assert.ok(guarded);
    const guardrailId = randomUUIDv7();
    const guardrail = { organizationId: guarded.organizationId, ownerId: guardrailId, secretVersion: 1 };
    await db
      .insertInto('guardrails')
      .values({
        organization_id: guarded.organizationId,
        id: guardrailId,
        name: 'G',
        slug: 'g',
        preset_slug: 'custom-http',
        base_url: 'https://g.example',
        auth_mode: 'bearer_static',
        sealed_secret: old.seal('guardrail secret', secretBinding(guardrail)),
        key_id: old.keyId,
      })
      .execute();

    const rotating = createSealer({ primary: newKey, previous: [oldKey] });
    const run = () => resealCredentials({ db, sealer: rotating, log: silentLog, batchRows: 2 });
    const outcomes = await Promise.all([run(), run()]);
    assert.equal(
      outcomes.reduce((sum, outcome) => sum + outcome.resealed, 0),
      8,
    );
    assert.deepEqual(await run(), { resealed: 0, unreadable: 1 });

    const fresh = createSealer({ primary: newKey });
    for (const [index, ids] of seeded.entries()) {
      const row = await db
        .selectFrom('credentials')
        .selectAll()
        .where('id', '=', ids.credentialId)
        .executeTakeFirstOrThrow();
      const binding = secretBinding({
        organizationId: ids.organizationId,
        ownerId: ids.providerId,
        secretVersion: 1,
      });
      assert.equal(fresh.open(row.sealed_secret, binding).reveal(), `secret ${index}`);
      assert.equal(row.key_id, fresh.keyId);
      assert.equal(row.version, 1);
    }
    const stored = await db.selectFrom('guardrails').selectAll().executeTakeFirstOrThrow();
    assert.equal(
      fresh.open(stored.sealed_secret ?? Buffer.alloc(0), secretBinding(guardrail)).reveal(),
      'guardrail secret',
    );
    const left = await db
      .selectFrom('credentials')
      .select('key_id')
      .where('id', '=', unreadable.credentialId)
      .executeTakeFirstOrThrow();
    assert.equal(left.key_id, lost.keyId);
  });
});
