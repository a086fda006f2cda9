import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type MigratedDatabase,
  migratedDatabase,
  seedOrganization,
} from '../fixtures/migrated-database.fixture.ts';
import {
  bumpConfigVersion,
  changeConfiguration,
  readConfigChanges,
  readConfigClock,
} from './config-version.ts';

describe('configuration versions', () => {
  let migrated: MigratedDatabase;
  before(async () => {
    migrated = await migratedDatabase();
  });
  after(() => migrated.drop());

  it('a reader who has seen version N has missed nothing up to N, whatever the writers do', async () => {
    const { db } = migrated;
    const organizations = await Promise.all(Array.from({ length: 6 }, () => seedOrganization(db)));
    let writing = true;
    const missed: number[] = [];
    const seen = new Set<number>();
    const first = await readConfigClock(db);
    const reader = async () => {
      let from = first;
      while (writing || (await readConfigClock(db)) > from) {
        const clock = await readConfigClock(db);
        const changes = await readConfigChanges(db, from, 1_000);
        for (const { version } of changes) seen.add(version);
        from = Math.max(clock, changes.at(-1)?.version ?? clock);
      }
      return from;
    };
    const committed: { organizationId: string; version: number }[] = [];
    const writer = async (organizationId: string, index: number) => {
      for (let round = 0; round < 15; round += 1) {
        const version = await db.transaction().execute(async (tx) => {
          await tx
            .updateTable('lanes')
            .set({ name: `L${round}` })
            .where('organization_id', '=', organizationId)
            .execute();
          const bumped = await bumpConfigVersion(tx, organizationId);
          // Writers commit after waits of different length, so that an unordered scheme would show.
          await new Promise((resolve) => setTimeout(resolve, (index * 7 + round * 3) % 5));
          return bumped;
        });
        committed.push({ organizationId, version });
      }
    };
    const reading = reader();
    await Promise.all(organizations.map(({ organizationId }, index) => writer(organizationId, index)));
    writing = false;
    const last = await reading;
    assert.equal(last - first, committed.length);
    // A version may be overtaken by a newer one of the same organization, but never lost.
    for (const { organizationId, version } of committed) {
      const newer = committed.some(
        (other) => other.organizationId === organizationId && other.version > version,
      );
      if (!seen.has(version) && !newer) missed.push(version);
    }
    assert.deepEqual(missed, []);
  });

  it('a change that fails leaves no version behind', async () => {
    const { db } = migrated;
    const { organizationId } = await seedOrganization(db);
    const before = await readConfigClock(db);
    const failing = changeConfiguration(db, organizationId, async (tx) => {
      await bumpConfigVersion(tx, organizationId);
      throw new Error('changed my mind');
    });
    await assert.rejects(failing, /changed my mind/);
    assert.equal(await readConfigClock(db), before);
  });

  it('a deleted organization is a change of its own, in order with the others', async () => {
    const { db } = migrated;
    const [gone, stays] = await Promise.all([seedOrganization(db), seedOrganization(db)]);
    const before = await readConfigClock(db);
    await db.deleteFrom('organizations').where('id', '=', gone.organizationId).execute();
    await changeConfiguration(db, stays.organizationId, async () => undefined);
    assert.deepEqual(await readConfigChanges(db, before, 10), [
      { organizationId: gone.organizationId, version: before + 1, deleted: true },
      { organizationId: stays.organizationId, version: before + 2, deleted: false },
    ]);
  });

  it('changes are read page by page without a gap', async () => {
    const { db } = migrated;
    const organizations = await Promise.all(Array.from({ length: 5 }, () => seedOrganization(db)));
    const before = await readConfigClock(db);
    for (const { organizationId } of organizations)
      await changeConfiguration(db, organizationId, async () => undefined);
    const found: string[] = [];
    for (let from = before; ; ) {
      const page = await readConfigChanges(db, from, 2);
      if (page.length === 0) break;
      found.push(...page.map((change) => change.organizationId));
      from = page.at(-1)?.version ?? from;
    }
    assert.deepEqual(
      found,
      organizations.map((organization) => organization.organizationId),
    );
  });
});
