import assert from 'node:assert/strict';
import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { sql } from 'kysely';
import type { RequestRecord } from '../domain/request-record.ts';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { createSealer } from '../kit/seal.ts';
import { uuidAt, uuidTimeMs } from '../kit/uuid-time.ts';
import { type MigratedDatabase, migratedDatabase } from '../store/fixtures/migrated-database.fixture.ts';
import { ensureLedgerPartitions, utcDayOf } from '../store/ledger/ledger-partitions.ts';
import { resealPoisonedUsage } from '../store/ledger/poisoned-usage.ts';
import { type ReplayDeps, replayUsage } from './replay-usage.ts';
import { sampleDraft, sampleRecord } from './request-records.fixture.ts';
import { createPostgresLedger } from './sinks/postgres-ledger.ts';
import { testSealer } from './test-sealer.fixture.ts';
import { readyEntries, writeEntries } from './write-entries.ts';

const DAY_MS = 86_400_000;
const NOTHING = { written: 0, present: 0, refused: 0, sealed: 0 };

describe('replaying refused usage', () => {
  let migrated: MigratedDatabase;
  let deps: ReplayDeps;
  let serial = 0;

  before(async () => {
    migrated = await migratedDatabase();
    deps = { db: migrated.db, sealer: testSealer, clock: systemClock, sinks: [] };
    await ensureLedgerPartitions(migrated.db, utcDayOf(Date.now()), utcDayOf(Date.now() + DAY_MS));
  });
  after(() => migrated.drop());
  beforeEach(async () => {
    await migrated.db.deleteFrom('poisoned_usage').execute();
    await migrated.db.deleteFrom('requests').execute();
    await migrated.db.deleteFrom('request_rollups').execute();
  });

  /** Has these fields written, as a worker does. */
  async function work(...entries: readonly (readonly string[])[]): Promise<number> {
    const { db } = migrated;
    const taken = entries.map((fields) => {
      serial += 1;
      return { group: { stream: 'usage' }, entry: { id: `${Date.now()}-${serial}`, fields } };
    });
    const ledger = createPostgresLedger({ db, clock: systemClock });
    const written = await writeEntries(
      { db, ledger, clock: systemClock, sealer: testSealer, log: createLog('silent') },
      readyEntries(taken, Date.now()),
    );
    return written.poisoned;
  }

  const fieldsOf = (record: RequestRecord) => ['r', JSON.stringify(record)];
  const rows = () => migrated.db.selectFrom('requests').selectAll().orderBy('request_id').execute();

  it('records of a gateway that was days off get rows of the day they were appended, each once', async () => {
    const off = [3, -300, 500].map((days) => sampleRecord({ requestId: uuidAt(Date.now() + days * DAY_MS) }));
    // Sent twice, as after a lost reply.
    assert.equal(await work(...off.map(fieldsOf), ...off.map(fieldsOf)), 6);
    assert.equal((await rows()).length, 0);
    const outcomes = await Promise.all([replayUsage(deps), replayUsage(deps)]);
    assert.equal(
      outcomes.reduce((sum, { written }) => sum + written, 0),
      3,
    );
    const written = await rows();
    assert.equal(written.length, 3);
    for (const { request_id } of written) assert.ok(Math.abs(uuidTimeMs(request_id) - Date.now()) < 600_000);
    assert.deepEqual(
      written.map(({ organization_id }) => organization_id).sort(),
      off.map(({ organizationId }) => organizationId).sort(),
    );
    // Delivered once more, later.
    assert.equal(await work(...off.map(fieldsOf)), 3);
    assert.deepEqual(await replayUsage(deps), { ...NOTHING, present: 3 });
    assert.equal((await rows()).length, 3);
    const { rows: sums } = await sql<{ sum: number }>`select sum(requests_completed)::int as sum
      from request_rollups where bucket = 'day' and family = 'caller'`.execute(migrated.db);
    assert.deepEqual(sums, [{ sum: 3 }]);
  });

  it('what PostgreSQL refused is written once it would take it, and what it still refuses is kept', async () => {
    const { db } = migrated;
    await sql`alter table requests add constraint planted check (upstream_model <> 'refused')`.execute(db);
    const refused = Array.from({ length: 5 }, () => sampleRecord({ upstreamModel: 'refused' }));
    const draft = sampleDraft({ candidates: [] });
    await work(...refused.map(fieldsOf), ['r', '{"requestId":'], ['x', JSON.stringify(draft), 'c', '0']);
    assert.deepEqual(await replayUsage(deps), { ...NOTHING, refused: 6 });
    await sql`alter table requests drop constraint planted`.execute(db);
    assert.deepEqual(await replayUsage(deps), { ...NOTHING, written: 5, refused: 1 });
    assert.deepEqual(
      (await rows()).map(({ request_id }) => request_id),
      [...refused.map(({ requestId }) => requestId), draft.requestId].sort(),
    );
    const kept = await db.selectFrom('poisoned_usage').select(['sealed_payload', 'replayed_at']).execute();
    assert.equal(kept.filter(({ sealed_payload }) => sealed_payload !== null).length, 1);
    assert.equal(kept.filter(({ replayed_at }) => replayed_at !== null).length, 5);
  });

  it('opens under the keys that are configured only, and is sealed again when the key is changed', async () => {
    await work(fieldsOf(sampleRecord({ requestId: uuidAt(Date.now() + 3 * DAY_MS) })));
    const [primary, other] = [randomBytes(32), createSealer({ primary: randomBytes(32) })];
    assert.deepEqual(await replayUsage({ ...deps, sealer: other }), { ...NOTHING, sealed: 1 });
    const rotated = createSealer({ primary });
    const both = { ...rotated, open: testSealer.open };
    await resealPoisonedUsage({ db: migrated.db, sealer: both, log: createLog('silent') });
    assert.deepEqual(await replayUsage({ ...deps, sealer: rotated }), { ...NOTHING, written: 1 });
  });

  it('a payload that was copied to another place does not open', async () => {
    await work(fieldsOf(sampleRecord({ requestId: uuidAt(Date.now() + 3 * DAY_MS) })));
    await sql`update poisoned_usage set entry_id = ${randomUUIDv7()}`.execute(migrated.db);
    assert.deepEqual(await replayUsage(deps), { ...NOTHING, sealed: 1 });
  });
});
