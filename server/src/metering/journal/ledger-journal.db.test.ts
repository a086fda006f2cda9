import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { appendFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { GATEWAY_LOST } from '../../domain/expired-draft.ts';
import { RelayError } from '../../domain/relay-error.ts';
import { systemClock } from '../../kit/clock.ts';
import { createLog } from '../../kit/log.ts';
import { type MigratedDatabase, migratedDatabase } from '../../store/fixtures/migrated-database.fixture.ts';
import { spoolDirectory } from '../kept-usage.fixture.ts';
import { sampleDraft, sampleRecord } from '../request-records.fixture.ts';
import { createPostgresLedger } from '../sinks/postgres-ledger.ts';
import { testSealer } from '../test-sealer.fixture.ts';
import { createLedgerJournal, type LedgerJournal, type LedgerJournalDeps } from './ledger-journal.ts';

const USED = { dispatched: true, tokens: 5, spendMicros: 5 };
const UNUSED = { dispatched: false, tokens: 0, spendMicros: 0 };
const MIB = 1_048_576;

describe('usage without a stream', () => {
  let migrated: MigratedDatabase;
  let directory: ReturnType<typeof spoolDirectory>;
  let ledgers: LedgerJournal[];

  before(async () => {
    migrated = await migratedDatabase();
  });
  after(() => migrated.drop());
  beforeEach(() => {
    directory = spoolDirectory();
    ledgers = [];
  });
  afterEach(async () => {
    await Promise.all(ledgers.map((ledger) => ledger.stop(0)));
    directory[Symbol.dispose]();
  });

  async function open(over: Partial<LedgerJournalDeps> = {}): Promise<LedgerJournal> {
    const ledger = createLedgerJournal({
      directory: directory.path,
      bytesMax: 16 * MIB,
      ownerId: randomUUIDv7(),
      ledger: createPostgresLedger({ db: over.db ?? migrated.db, clock: systemClock }),
      db: migrated.db,
      clock: systemClock,
      sealer: testSealer,
      log: createLog('silent'),
      ...over,
    });
    ledgers.push(ledger);
    await ledger.recover();
    return ledger;
  }

  /** Loses its memory and writes nothing more; files stay on disk. */
  const kill = (ledger: LedgerJournal) => ledger.stop(0);

  function request() {
    const draft = sampleDraft();
    const { requestId, organizationId } = draft;
    const record = JSON.stringify(sampleRecord({ requestId, organizationId }));
    return {
      requestId,
      draft: { organizationId, operationId: requestId, candidate: 0, draft: JSON.stringify(draft) },
      settlement: { organizationId, operationId: requestId, actual: USED, record },
    };
  }

  async function rowOf(requestId: string) {
    const rows = await migrated.db
      .selectFrom('requests')
      .select(['error_code', 'usage_source', 'state'])
      .where('request_id', '=', requestId)
      .execute();
    assert.ok(rows.length <= 1);
    return rows[0];
  }

  it('has its row soon, and then leaves nothing on disk', async () => {
    const ledger = await open();
    const { requestId, draft, settlement } = request();
    ledger.draft(draft, 1);
    assert.equal(readdirSync(directory.path).length, 1);
    ledger.settlement(settlement);
    assert.deepEqual(await ledger.stop(5_000), { kept: 0, lost: 0 });
    assert.equal((await rowOf(requestId))?.state, 'completed');
    assert.deepEqual(readdirSync(directory.path), []);
    assert.deepEqual(ledger.counts(), { rows: 1, poisoned: 0 });
  });

  it('that a killed process has left is posted by the next: ends as they were, drafts at their estimate', async () => {
    const first = await open();
    const [ended, lost, refused] = [request(), request(), request()];
    for (const { draft } of [ended, lost]) first.draft(draft, 1);
    first.settlement(ended.settlement);
    first.record(refused.draft.organizationId, refused.settlement.record);
    await kill(first);
    appendFileSync(join(directory.path, readdirSync(directory.path)[0] ?? ''), '["d","cut off');

    const second = await open();
    assert.equal((await rowOf(ended.requestId))?.state, 'completed');
    assert.equal((await rowOf(refused.requestId))?.state, 'completed');
    assert.deepEqual(await rowOf(lost.requestId), {
      error_code: GATEWAY_LOST,
      usage_source: 'estimated',
      state: 'failed',
    });
    assert.deepEqual(readdirSync(directory.path), []);
    assert.equal(second.state().waiting, 0);
  });

  it('that was posted and not yet removed from disk is one row', async () => {
    const { requestId, draft, settlement } = request();
    const first = await open();
    first.settlement(settlement);
    await until(() => first.backlog().entries === 0);
    for (const again of [draft, settlement]) {
      const ledger = await open();
      if ('draft' in again) ledger.draft(again, 1);
      else ledger.settlement(again);
      await kill(ledger);
    }
    const last = await open();
    assert.equal(last.counts().rows, 0);
    assert.equal((await rowOf(requestId))?.state, 'completed');
    assert.deepEqual(readdirSync(directory.path), []);
  });

  it('that is left keeps a process from serving that cannot write it to the ledger', async () => {
    const first = await open();
    first.draft(request().draft, 1);
    await kill(first);
    const away = { transaction: () => Promise.reject(new Error('away')) } as never;
    await assert.rejects(open({ db: away }));
    assert.equal(readdirSync(directory.path).length, 1);
  });

  it('stays on disk while the ledger cannot be written, and is written when it can', async () => {
    let isAway = false;
    const db = new Proxy(migrated.db, {
      get(target, name) {
        if (isAway && name === 'transaction') throw new Error('no space left');
        const value = Reflect.get(target, name) as unknown;
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
    const ledger = await open({ db });
    isAway = true;
    const { requestId, draft, settlement } = request();
    ledger.draft(draft, 1);
    ledger.settlement(settlement);
    await until(() => ledger.backlog().lagMs > 50);
    assert.equal(ledger.backlog().entries, 1);
    assert.equal(readdirSync(directory.path).length, 1);
    isAway = false;
    await until(() => ledger.backlog().entries === 0);
    assert.equal((await rowOf(requestId))?.state, 'completed');
    assert.deepEqual(readdirSync(directory.path), []);
  });

  it('refuses what cannot be written down before it is dispatched, and still takes the ends of the others', async () => {
    const ledger = await open({ bytesMax: 16_384 });
    const [first, second] = [request(), request()];
    ledger.draft(first.draft, 1);
    const refused = (error: unknown) => error instanceof RelayError && error.code === 'metering_unavailable';
    assert.throws(() => ledger.draft(second.draft, 10), refused);
    ledger.settlement(first.settlement);
    ledger.settlement({ ...second.settlement, actual: UNUSED });
    await ledger.stop(5_000);
    assert.ok(await rowOf(first.requestId));
    assert.ok(await rowOf(second.requestId));
  });

  it('of long requests does not keep the files of shorter ones', async () => {
    const ledger = await open({ bytesMax: 24 * MIB });
    const long = Array.from({ length: 5 }, request);
    const filler = 'x'.repeat(200_000);
    for (const { draft } of long) {
      ledger.draft(draft, 1);
      for (let index = 0; index < 25; index += 1) {
        const { draft: other, settlement, requestId } = request();
        const clientRequestId = `${filler}${requestId}`;
        const record = JSON.stringify(sampleRecord({ requestId, clientRequestId }));
        ledger.draft(other, 1);
        ledger.settlement({ ...settlement, record });
        if (index % 5 === 4) await until(() => ledger.backlog().entries === 0);
      }
    }
    await until(() => ledger.backlog().entries === 0);
    assert.ok(ledger.state().bytes < 12 * MIB, `${ledger.state().bytes} bytes`);
    assert.equal(ledger.state().drafts, long.length);
    await kill(ledger);
    await open();
    for (const { requestId } of long) assert.equal((await rowOf(requestId))?.error_code, GATEWAY_LOST);
  });

  it('whose lease expired is posted at its estimate, and a late record replaces it', async () => {
    const ledger = await open();
    const { requestId, draft, settlement } = request();
    ledger.draft(draft, 1);
    ledger.expired(requestId, draft.draft, 0);
    await until(() => ledger.backlog().entries === 0);
    assert.equal((await rowOf(requestId))?.error_code, GATEWAY_LOST);
    ledger.settlement(settlement);
    await until(() => ledger.backlog().entries === 0);
    assert.equal((await rowOf(requestId))?.state, 'completed');
    assert.deepEqual(readdirSync(directory.path), []);
  });

  it('is taken over from any owner, since no other process uses the directory', async () => {
    const { requestId, settlement } = request();
    mkdirSync(directory.path, { recursive: true });
    // The owner's process id is running, and the file is new.
    const name = `usage-${Date.now()}-1-${process.ppid}-${randomUUIDv7()}-elsewhere.jsonl`;
    const { organizationId, operationId, record } = settlement;
    const line = JSON.stringify(['s', organizationId, operationId, true, 5, 5, record]);
    appendFileSync(join(directory.path, name), `${line}\n`);
    await open();
    assert.ok(await rowOf(requestId));
    assert.deepEqual(readdirSync(directory.path), []);
  });
});

async function until(isSo: () => boolean): Promise<void> {
  const endMs = performance.now() + 10_000;
  while (!isSo()) {
    assert.ok(performance.now() < endMs, 'it does not come');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
