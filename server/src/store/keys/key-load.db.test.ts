import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { it } from 'node:test';
import { migratedDatabase } from '../fixtures/migrated-database.fixture.ts';
import { loadKeys, measureDirectory } from './key-load.fixture.ts';

it('the bench of keys fills a database that the directory finds every key in', async () => {
  const { database, db, drop } = await migratedDatabase();
  try {
    const loaded = await loadKeys(database, {
      rows: 1_250,
      hot: 300,
      pepper: createSecretKey(randomBytes(32)),
    });
    const { count } = await db
      .selectFrom('api_keys')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    assert.equal(count, 1_250);
    assert.equal(loaded.coldPublicIds.length, 950);
    const figures = await measureDirectory(database, loaded);
    assert.ok(Object.values(figures).every(Number.isFinite), JSON.stringify(figures));
  } finally {
    await drop();
  }
});
