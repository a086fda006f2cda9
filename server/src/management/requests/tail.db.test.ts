import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { createRandom, testSeed } from '@relay/testbed/random';
import { sql } from 'kysely';
import { appendRequests } from '../../store/ledger/append-requests.ts';
import { sampleRow } from '../../store/ledger/ledger-row.fixture.ts';
import type { LedgerRow } from '../../store/ledger/ledger-row.ts';
import { findPosition, readMoment, readTail, type TailRow } from '../../store/ledger/log/read-tail.ts';
import { type Checkpoint, checkpointAfter, checkpointAt } from '../../store/ledger/log/tail-checkpoint.ts';
import { createDatabase, type DatabaseHandle } from '../../store/postgres/postgres.ts';
import { addOrganization, type ManagementFixture, startManagement } from '../fixture.ts';
import { idAt, insertRequests, recordRequests } from './ledger.fixture.ts';
import { createTail, type Tail } from './tail.ts';

const SILENCES_AT_END = 10;
const HEARTBEAT_MS = 50;

describe('the tail of the ledger', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let writers: DatabaseHandle;
  let tail: Tail;
  let organizationId: string;
  let serial = 0;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url);
    writers = createDatabase({
      url: database.url,
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      poolMax: 20,
      statementTimeoutMs: 60_000,
    });
    organizationId = room.acme.organizationId;
    tail = createTail({ ofOrganization: room.ofOrganization, tickMs: 20, heartbeatMs: HEARTBEAT_MS });
    // The partitions of today and yesterday.
    await recordRequests(room.db, [row(), row(-86_400_000)]);
  });
  // A transaction elsewhere on the server moves a checkpoint back, to rows of an earlier test.
  beforeEach(async () => {
    serial += 1;
    ({ organizationId } = await addOrganization(room.db, `tail-${serial}`));
  });
  after(async () => {
    await room.close();
    await writers.close();
    await database.drop();
  });

  function row(agoMs = 0, over: Partial<LedgerRow> = {}): LedgerRow {
    serial += 1;
    return sampleRow({
      request_id: idAt(Math.floor(Date.now() + agoMs), serial),
      organization_id: organizationId,
      settled_at: new Date(),
      ...over,
    });
  }

  const now = async () => checkpointAt(await readMoment(room.db));
  const idsOf = (rows: readonly { request_id: string }[]) => rows.map(({ request_id }) => request_id);

  /** Collects this many events. */
  async function collect(count: number, from: Checkpoint, matches: (row: TailRow) => boolean = () => true) {
    const controller = new AbortController();
    const told: string[] = [];
    for await (const rows of tail.follow({ organizationId, from, matches, ended: controller.signal })) {
      told.push(...idsOf(rows));
      if (told.length >= count) break;
    }
    return told;
  }

  /** Reads until an event arrives: other transactions on this server may delay the tail. */
  async function readSome(from: Checkpoint): Promise<string[]> {
    for (;;) {
      const { rows } = await readTail(room.ofOrganization(organizationId), organizationId, from, 100);
      if (rows.length > 0) return idsOf(rows);
      await delay(20);
    }
  }

  it('tells a request that arrived earlier and was written later', async () => {
    const from = await now();
    const [early, late] = [row(-3_600_000), row()];
    await recordRequests(room.db, [late]);
    const first = await readSome(from);
    assert.deepEqual(first, [late.request_id]);
    await recordRequests(room.db, [early]);
    assert.deepEqual(await collect(2, from), [late.request_id, early.request_id]);
  });

  it('tells nothing that a transaction still open may come before, and afterwards all of it', async () => {
    const from = await now();
    const [first, second] = [row(), row()];
    const { promise: committed, resolve: commit } = Promise.withResolvers<void>();
    const { promise: written, resolve: isWritten } = Promise.withResolvers<void>();
    const slow = writers.db.transaction().execute(async (tx) => {
      await appendRequests(tx, [first]);
      isWritten();
      await committed;
    });
    await written;
    await insertRequests(room.db, [second]);
    const early = await readTail(room.ofOrganization(organizationId), organizationId, from, 100);
    assert.deepEqual(idsOf(early.rows), []);
    commit();
    await slow;
    assert.deepEqual(await collect(2, from), [first.request_id, second.request_id]);
  });

  it('is not held back for ever by a transaction that is somebody else’s', async () => {
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const { promise: open, resolve: isOpen } = Promise.withResolvers<void>();
    const foreign = writers.db.transaction().execute(async (tx) => {
      await sql`select pg_current_xact_id()`.execute(tx);
      isOpen();
      await over;
    });
    await open;
    const moment = await readMoment(room.db);
    const from = checkpointAt(moment);
    const one = row();
    await recordRequests(room.db, [one]);
    const held = await readTail(room.ofOrganization(organizationId), organizationId, from, 100);
    assert.deepEqual(idsOf(held.rows), []);
    const known = [{ ...moment, atMs: moment.atMs - 61_000 }, moment];
    assert.deepEqual(await readSome({ ...from, moments: known }), [one.request_id]);
    end();
    await foreign;
  });

  it('tells every follower everything once and in the same order, while writers overtake one another', async () => {
    const random = createRandom(testSeed()).next;
    const from = await now();
    const expected: string[] = [];
    async function write(): Promise<void> {
      for (let batch = 0; batch < 12; batch += 1) {
        const rows = Array.from({ length: 1 + Math.floor(random() * 40) }, () => row(-random() * 60_000));
        const aborts = random() < 0.1;
        if (!aborts) expected.push(...idsOf(rows));
        const writing = writers.db.transaction().execute(async (tx) => {
          await delay(random() * 20);
          await insertRequests(tx, rows);
          await delay(random() * 60);
          if (aborts) throw new Error('rolled back');
        });
        await writing.catch((error: Error) => assert.equal(error.message, 'rolled back'));
      }
    }
    const writing = Promise.all(Array.from({ length: 6 }, write));
    const whole = told(from, writing, () => true);
    const again = told(await now(), writing, () => true);
    const some = told(from, writing, ({ request_id }) => request_id.endsWith('0'));
    const broken = toldWithBreaks(from, writing, random);
    const all = await whole;
    assert.deepEqual(all.toSorted(), expected.toSorted());
    assert.deepEqual(
      await some,
      all.filter((id) => id.endsWith('0')),
    );
    assert.deepEqual(await broken, all);
    const later = await again;
    assert.deepEqual(later, all.slice(all.length - later.length));
  });

  /** Follows until the writers are done and no more rows arrive. */
  async function told(
    from: Checkpoint,
    writing: Promise<unknown>,
    matches: (row: TailRow) => boolean,
  ): Promise<string[]> {
    const controller = new AbortController();
    const ids: string[] = [];
    const isOver = createEnd(writing);
    for await (const rows of tail.follow({ organizationId, from, matches, ended: controller.signal })) {
      ids.push(...idsOf(rows));
      if (await isOver(rows)) break;
    }
    return ids;
  }

  /**
   * Whether the writers are done and no more rows arrive. On a busy machine, committed rows may not have been
   * read yet, so one empty batch is not the end.
   */
  function createEnd(writing: Promise<unknown>): (rows: readonly TailRow[]) => Promise<boolean> {
    let [written, silences] = [false, 0];
    void writing.then(() => (written = true));
    return async (rows) => {
      if (rows.length > 0 || !written || !(await isUpToDate())) silences = 0;
      else silences += 1;
      return silences >= SILENCES_AT_END;
    };
  }

  /** Whether no open transaction holds back a row of the organization. */
  async function isUpToDate(): Promise<boolean> {
    const { endedBelowXid } = await readMoment(room.db);
    const { rows } = await sql<{ newest: number }>`
      select max(requests.xmin::text::bigint) as newest from requests where organization_id = ${organizationId}`.execute(
      room.db,
    );
    return endedBelowXid > (rows[0]?.newest ?? 0);
  }

  /** Like `told`, for a client that disconnects at random and resumes after its last id. */
  async function toldWithBreaks(
    from: Checkpoint,
    writing: Promise<unknown>,
    random: () => number,
  ): Promise<string[]> {
    const ids: string[] = [];
    let at = from;
    const isOver = createEnd(writing);
    for (;;) {
      const controller = new AbortController();
      const leaveAfter = ids.length + 1 + Math.floor(random() * 80);
      const batches = tail.follow({
        organizationId,
        from: at,
        matches: () => true,
        ended: controller.signal,
      });
      for await (const rows of batches) {
        ids.push(...idsOf(rows));
        if (ids.length >= leaveAfter) break;
        if (await isOver(rows)) return ids;
      }
      const position = await findPosition(room.db, organizationId, ids.at(-1) ?? '', undefined);
      assert.ok(position !== undefined);
      at = checkpointAfter(position, position.settledAtMs);
    }
  }

  it('loses nothing for a follower that reads more slowly than requests are recorded', async () => {
    const from = await now();
    const controller = new AbortController();
    const batches = tail.follow({ organizationId, from, matches: () => true, ended: controller.signal });
    assert.deepEqual((await batches.next()).value, []);
    const rows = Array.from({ length: 6_000 }, () => row());
    for (let at = 0; at < rows.length; at += 500) await insertRequests(room.db, rows.slice(at, at + 500));
    // Another client keeps up during this time.
    await collect(rows.length, from);
    const seen: string[] = [];
    for await (const some of batches) {
      seen.push(...idsOf(some));
      if (seen.length >= rows.length) break;
    }
    assert.deepEqual(seen.toSorted(), idsOf(rows).toSorted());
  });

  it('says that it is there when there is nothing to tell, ends with the signal, and then reads no more', async () => {
    const controller = new AbortController();
    const from = await now();
    const batches = tail.follow({ organizationId, from, matches: () => true, ended: controller.signal });
    assert.deepEqual((await batches.next()).value, []);
    assert.deepEqual((await batches.next()).value, []);
    const last = batches.next();
    controller.abort();
    assert.equal((await last).done, true);
    while (tail.followed() > 0) await delay(5);
  });

  it('finds no position for a request of another organization, of another user, or that never was', async () => {
    const one = row(0, { user_id: randomUUIDv7() });
    await recordRequests(room.db, [one]);
    const find = (org: string, id: string, user?: string) =>
      findPosition(room.ofOrganization(org), org, id, user);
    assert.equal((await find(organizationId, one.request_id))?.requestId, one.request_id);
    assert.equal((await find(organizationId, one.request_id, one.user_id ?? ''))?.requestId, one.request_id);
    assert.equal(await find(organizationId, one.request_id, randomUUIDv7()), undefined);
    assert.equal(await find(room.globex.organizationId, one.request_id), undefined);
    assert.equal(await find(organizationId, randomUUIDv7()), undefined);
  });
});
