import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type MigratedDatabase, migratedDatabase } from '../fixtures/migrated-database.fixture.ts';
import { ensureImplicitOrganization } from './implicit-organization.ts';

describe('the implicit organization', () => {
  let migrated: MigratedDatabase;
  before(async () => {
    migrated = await migratedDatabase();
  });
  after(() => migrated.drop());

  it('is created once, by any number of callers, and keeps later changes', async () => {
    const { db } = migrated;
    for (let round = 0; round < 20; round += 1) {
      await db.deleteFrom('organizations').execute();
      await db.deleteFrom('users').execute();
      const answers = await Promise.all(Array.from({ length: 8 }, () => ensureImplicitOrganization(db)));
      assert.equal(new Set(answers.map((answer) => JSON.stringify(answer))).size, 1);
    }
    await db.updateTable('organizations').set({ name: 'Renamed' }).execute();
    await ensureImplicitOrganization(db);
    const members = await db
      .selectFrom('organization_members')
      .innerJoin('organizations', 'organizations.id', 'organization_members.organization_id')
      .select(['organizations.name', 'role'])
      .execute();
    assert.deepEqual(members, [{ name: 'Renamed', role: 'owner' }]);
  });
});
