import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  bumpConfigVersion,
  changeConfiguration,
  readConfigChanges,
  readConfigClock,
} from '../configuration/config-version.ts';
import {
  type MigratedDatabase,
  migratedDatabase,
  seedOrganization,
} from '../fixtures/migrated-database.fixture.ts';
import { appendRequests } from '../ledger/append-requests.ts';
import { dropDaysBefore, ensureLedgerPartitions, utcDayOf } from '../ledger/ledger-partitions.ts';
import { sampleRow as row } from '../ledger/ledger-row.fixture.ts';

/** Tests that the embedded database cannot run, because it has one session. */
describe('several sessions at the same time', () => {
  let migrated: MigratedDatabase;
  before(async () => {
    migrated = await migratedDatabase();
  });
  after(() => migrated.drop());

  it('a partition can be made while a transaction is writing to the ledger', async () => {
    const today = utcDayOf(Date.now());
    await ensureLedgerPartitions(migrated.db, today, today);
    await migrated.db.transaction().execute(async (tx) => {
      await appendRequests(tx, [row()]);
      assert.deepEqual(await ensureLedgerPartitions(migrated.db, '2030-01-01', '2030-01-01'), ['2030-01-01']);
    });
  });

  it('a partition that is being read does not block the ledger, and dropping it is retried', async () => {
    await ensureLedgerPartitions(migrated.db, '2021-01-01', '2021-01-01');
    await migrated.db
      .insertInto('announced_drops')
      .values({ day: '2021-01-01', announced_at: new Date('2021-05-01') })
      .execute();
    await migrated.db.transaction().execute(async (tx) => {
      await tx.selectFrom('requests').select('request_id').limit(1).execute();
      const startMs = performance.now();
      await assert.rejects(dropDaysBefore(migrated.db, '2021-06-01'), { code: 'store_unavailable' });
      assert.ok(performance.now() - startMs < 4_000);
    });
    assert.deepEqual((await dropDaysBefore(migrated.db, '2021-06-01')).dropped, ['2021-01-01']);
  });

  it('no version is visible before one that is smaller', async () => {
    const { db } = migrated;
    const [early, late] = await Promise.all([seedOrganization(db), seedOrganization(db)]);
    const before = await readConfigClock(db);
    let lateDone = false;
    let lateWrite: Promise<void> | undefined;
    await db.transaction().execute(async (tx) => {
      await bumpConfigVersion(tx, early.organizationId);
      lateWrite = changeConfiguration(db, late.organizationId, async () => undefined).then(() => {
        lateDone = true;
      });
      await new Promise((resolve) => setTimeout(resolve, 100));
      assert.equal(lateDone, false);
      assert.deepEqual(await readConfigChanges(db, before, 10), []);
    });
    await lateWrite;
    assert.deepEqual(
      (await readConfigChanges(db, before, 10)).map((change) => change.organizationId),
      [early.organizationId, late.organizationId],
    );
  });
});
