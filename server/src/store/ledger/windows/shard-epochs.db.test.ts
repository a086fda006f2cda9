import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type MigratedDatabase, migratedDatabase } from '../../fixtures/migrated-database.fixture.ts';
import { raiseShardEpoch, readShardEpoch } from './shard-epochs.ts';

describe('the epoch of a shard', () => {
  let migrated: MigratedDatabase;

  before(async () => {
    migrated = await migratedDatabase();
  });
  after(() => migrated.drop());

  it('is 0 before the shard is used', async () => {
    assert.deepEqual(await readShardEpoch(migrated.db, 1), { epoch: 0, isRecent: false });
  });

  it('is raised once, by one of those who read the same', async () => {
    const raise = (from: number, to: number) => raiseShardEpoch(migrated.db, 2, from, to);
    const together = async (from: number, to: number) => {
      const raised = await Promise.all([raise(from, to), raise(from, to), raise(from, to)]);
      return raised.filter(Boolean).length;
    };
    assert.equal(await together(0, 1), 1);
    assert.equal(await together(1, 2), 1);
    assert.equal(await raise(1, 2), false, 'one who comes late raises nothing');
    assert.deepEqual(await readShardEpoch(migrated.db, 2), { epoch: 2, isRecent: true });
  });

  it('is not recent any more after a while', async () => {
    await raiseShardEpoch(migrated.db, 3, 0, 1);
    const raised_at = new Date(Date.now() - 3_600_000);
    await migrated.db.updateTable('shard_epochs').set({ raised_at }).where('shard', '=', 3).execute();
    assert.deepEqual(await readShardEpoch(migrated.db, 3), { epoch: 1, isRecent: false });
  });
});
