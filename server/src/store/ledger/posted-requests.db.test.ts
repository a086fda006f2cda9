import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { GATEWAY_LOST } from '../../domain/expired-draft.ts';
import { type MigratedDatabase, migratedDatabase } from '../fixtures/migrated-database.fixture.ts';
import { appendRequests } from './append-requests.ts';
import { ensureLedgerPartitions, utcDayOf } from './ledger-partitions.ts';
import { sampleRow } from './ledger-row.fixture.ts';
import { readPostedRequests } from './posted-requests.ts';

describe('requests that the ledger has', () => {
  let migrated: MigratedDatabase;

  before(async () => {
    migrated = await migratedDatabase();
    await ensureLedgerPartitions(migrated.db, utcDayOf(Date.now() - 3_600_000), utcDayOf(Date.now()));
  });
  after(() => migrated.drop());

  it('are those with a row, unless it is the estimate of a lost gateway', async () => {
    const [posted, estimated, missing] = [randomUUIDv7(), randomUUIDv7(), randomUUIDv7()];
    const lost = { error_code: GATEWAY_LOST, usage_source: 'estimated', state: 'failed' } as const;
    await appendRequests(migrated.db, [
      sampleRow({ request_id: posted }),
      sampleRow({ request_id: estimated, ...lost }),
    ]);
    const found = await readPostedRequests(migrated.db, [missing, estimated, posted]);
    assert.deepEqual([...found], [posted]);
    assert.equal((await readPostedRequests(migrated.db, [])).size, 0);
  });
});
