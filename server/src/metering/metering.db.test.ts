import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { type PrivateRedis, startRedis, startTcpProxy, type TcpProxy } from '@relay/testbed';
import { sql } from 'kysely';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { type MigratedDatabase, migratedDatabase } from '../store/fixtures/migrated-database.fixture.ts';
import { createDatabase } from '../store/postgres/postgres.ts';
import { createRedis, type Redis } from '../store/redis/redis.ts';
import { prefixOf, usageStreamOf } from '../store/redis/shards.ts';
import { spoolBefore, spoolDirectory, usageBefore } from './kept-usage.fixture.ts';
import { type LedgerWorker, type LedgerWorkerDeps, startLedgerWorker } from './ledger-worker.ts';
import { sampleDraft, sampleRecord } from './request-records.fixture.ts';
import { createPostgresLedger } from './sinks/postgres-ledger.ts';
import { testSealer } from './test-sealer.fixture.ts';
import { createSendUsage } from './usage-stream.ts';

const log = createLog('silent');

describe('records on their way to the ledger', () => {
  let migrated: MigratedDatabase;
  let server: PrivateRedis;
  let proxy: TcpProxy;
  let redis: Redis;
  let proxied: Redis;
  let workers: LedgerWorker[];

  before(async () => {
    [migrated, server] = await Promise.all([migratedDatabase(), startRedis()]);
    proxy = await startTcpProxy({ target: server.url });
    redis = createRedis({ url: server.url, clock: systemClock, log });
    proxied = createRedis({ url: proxy.url, clock: systemClock, log });
    await Promise.all([redis.whenReady(60_000), proxied.whenReady(60_000)]);
  });
  beforeEach(() => {
    workers = [];
  });
  afterEach(async () => {
    await proxy.heal();
    for (const worker of workers) await worker.stop();
    await redis.run(['FLUSHALL']);
    await migrated.db.deleteFrom('requests').execute();
    await migrated.db.deleteFrom('poisoned_usage').execute();
  });
  after(async () => {
    await Promise.all([redis.close(), proxied.close()]);
    await proxy.close();
    await server.remove();
    await migrated.drop();
  });

  function work(over: Partial<LedgerWorkerDeps> = {}): LedgerWorker {
    const consumer = `worker-${workers.length}`;
    const worker = startLedgerWorker({
      redis,
      ledger: createPostgresLedger({ db: migrated.db, clock: systemClock, copies: true }),
      db: migrated.db,
      clock: systemClock,
      sealer: testSealer,
      log,
      consumer,
      ...over,
    });
    workers.push(worker);
    return worker;
  }

  async function rows() {
    return migrated.db.selectFrom('requests').selectAll().orderBy('request_id').execute();
  }

  async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
    const endMs = performance.now() + 15_000;
    while (!(await holds())) {
      assert.ok(performance.now() < endMs, what);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async function waitingEntries(): Promise<number> {
    let sum = 0;
    for (const prefix of await redis.shards.list())
      sum += Number(await redis.run(['XLEN', usageStreamOf(prefix)]));
    return sum;
  }

  /** The workers that hold entries of a stream. */
  async function consumersOf(stream: string): Promise<string[]> {
    // There is no group before the first read.
    const reply = await redis.run(['XPENDING', stream, 'ledger']).catch(() => null);
    const consumers: unknown = Array.isArray(reply) ? reply[3] : null;
    return Array.isArray(consumers) ? consumers.map((each) => String(each[0])) : [];
  }

  function append(organizationId: string, ...fields: string[]): Promise<void> {
    return createSendUsage(redis)(organizationId, fields);
  }

  /** Organizations of different shards. */
  function organizations(count: number): string[] {
    const found = new Map<string, string>();
    while (found.size < count) {
      const { organizationId } = sampleRecord();
      found.set(prefixOf(organizationId), organizationId);
    }
    return [...found.values()];
  }

  it('records of organizations in different shards all become rows, and leave the streams', async () => {
    const sink = usageBefore(redis, () => assert.fail('a record is kept although Redis takes it'));
    const owners = organizations(3);
    const records = owners.flatMap((organizationId) =>
      Array.from({ length: 70 }, () => sampleRecord({ organizationId })),
    );
    for (const record of records) sink.append(record.organizationId, JSON.stringify(record));
    assert.equal(await sink.close(5_000), 0);
    for (const owner of owners)
      assert.equal(await redis.run(['XLEN', usageStreamOf(prefixOf(owner))]), 4, 'bounded entries');
    const worker = work();
    await until(async () => (await waitingEntries()) === 0, 'entries stay in the streams');
    assert.deepEqual(
      (await rows()).map(({ request_id }) => request_id),
      records.map(({ requestId }) => requestId).sort(),
    );
    assert.deepEqual(worker.counts(), { rows: 210, poisoned: 0 });
  });

  it('records of another deployment stay in a stream that is its own, and are put aside in ours', async () => {
    const foreign = sampleRecord({ deploymentId: 'other' });
    const own = sampleRecord({ deploymentId: 'own', organizationId: foreign.organizationId });
    await append(own.organizationId, ...[own, foreign].flatMap((record) => ['r', JSON.stringify(record)]));
    let [demanded, isForeign] = [0, true];
    const owner = {
      deploymentId: 'own',
      async demandOwnSource() {
        demanded += 1;
        if (isForeign) throw new Error('it belongs to another deployment');
      },
    };
    work({ owner });
    await until(async () => demanded > 0, 'nothing was compared');
    assert.deepEqual(await rows(), []);
    assert.equal(await waitingEntries(), 1, 'it waits for a worker of the stream’s owner');
    isForeign = false;
    await until(async () => (await waitingEntries()) === 0, 'entries stay in the stream');
    const written = (await rows()).map(({ request_id }) => request_id);
    assert.deepEqual(written, [own.requestId]);
    const letter = await migrated.db.selectFrom('poisoned_usage').selectAll().executeTakeFirst();
    assert.equal(letter?.reason, 'it belongs to deployment other');
    assert.equal(letter.request_id, foreign.requestId);
  });

  it('texts that PostgreSQL cannot hold do not cost a request its row', async () => {
    const reason = 'chat to messages: "a\0\ud800" cannot be translated.';
    const candidates = [
      { endpointId: 'endpoint', rank: 0, verdict: 'incompatible', reason, waitMs: null },
    ] as const;
    const record = sampleRecord({ model: 'm\0', clientRequestId: '\udc00', candidates });
    await append(record.organizationId, 'r', JSON.stringify(record));
    work();
    await until(async () => (await waitingEntries()) === 0, 'entries stay in the streams');
    const [row] = await rows();
    assert.equal(row?.model, 'm\u{FFFD}');
    assert.match(JSON.stringify(row.trace), /a\u{FFFD}\u{FFFD}.* cannot be translated/u);
  });

  it('a request whose gateway died gets a row at its estimate, unless the gateway wrote a better one', async () => {
    const [lost, late] = [sampleDraft(), sampleDraft()];
    await append(lost.organizationId, 'x', JSON.stringify(lost), 'c', '0');
    await append(late.organizationId, 'x', JSON.stringify(late), 'c', '1');
    const settled = sampleRecord({ requestId: late.requestId, organizationId: late.organizationId });
    await append(late.organizationId, 'r', JSON.stringify(settled));
    work();
    await until(async () => (await waitingEntries()) === 0, 'entries stay in the streams');
    const found = new Map((await rows()).map((row) => [row.request_id, row]));
    assert.equal(found.size, 2);
    const row = found.get(lost.requestId);
    assert.deepEqual(
      [row?.state, row?.status, row?.error_code, row?.usage_source, row?.endpoint_id],
      ['failed', 500, 'gateway_lost', 'estimated', lost.candidates[0]?.endpointId],
    );
    assert.deepEqual([row?.actual_input_tokens, row?.actual_cost_micros].map(Number), [30, 700]);
    assert.equal(found.get(late.requestId)?.state, 'completed');
  });

  it('a late record replaces the estimate, and a late estimate replaces nothing', async () => {
    const [slow, quick] = [sampleDraft(), sampleDraft()];
    const settled = [slow, quick].map(({ requestId, organizationId }) =>
      sampleRecord({ requestId, organizationId, actualInputTokens: 11 }),
    );
    await append(slow.organizationId, 'x', JSON.stringify(slow), 'c', '0');
    await append(quick.organizationId, 'r', JSON.stringify(settled[1]));
    const worker = work();
    await until(async () => (await waitingEntries()) === 0, 'entries stay in the streams');
    await append(slow.organizationId, 'r', JSON.stringify(settled[0]));
    await append(quick.organizationId, 'x', JSON.stringify(quick), 'c', '0');
    await until(async () => (await waitingEntries()) === 0, 'entries stay in the streams');
    assert.deepEqual(
      (await rows()).map(({ state, actual_input_tokens }) => [state, actual_input_tokens]),
      [
        ['completed', 11],
        ['completed', 11],
      ],
    );
    assert.equal(worker.counts().rows, 3);
    const sums = await migrated.db
      .selectFrom('request_rollups')
      .select(({ fn }) => [
        fn.sum<string>('requests_completed').as('completed'),
        fn.sum<string>('requests_failed').as('failed'),
        fn.sum<string>('input_tokens').as('tokens'),
      ])
      .where('bucket', '=', 'hour')
      .where('family', '=', 'caller')
      .where('organization_id', 'in', [slow.organizationId, quick.organizationId])
      .execute();
    assert.deepEqual(sums, [{ completed: '2', failed: '0', tokens: '22' }]);
  });

  it('a worker lost between commit and acknowledgement leaves one row, and another finishes its work', async () => {
    const record = sampleRecord();
    const stream = usageStreamOf(prefixOf(record.organizationId));
    // Create the partitions first; otherwise creating them would wait for the lock below.
    await work().stop();
    await migrated.db.transaction().execute(async (tx) => {
      await sql`lock table requests in share mode`.execute(tx);
      await append(record.organizationId, 'r', JSON.stringify(record));
      work({ redis: proxied, consumer: 'lost' });
      await until(async () => (await consumersOf(stream)).includes('lost'), 'no worker took the entry');
      await proxy.refuse();
    });
    await until(async () => (await rows()).length === 1, 'the row is not committed');
    assert.equal(await waitingEntries(), 1);
    const second = work({ abandonedMs: 0, claimEveryMs: 50 });
    await until(async () => (await waitingEntries()) === 0, 'the entry is not taken over');
    assert.equal((await rows()).length, 1);
    assert.deepEqual(second.counts(), { rows: 0, poisoned: 0 });
  });

  it('a worker lost in the middle of an entry leaves one row and one count per record', async () => {
    const [{ organizationId }, lost] = [sampleRecord(), sampleDraft()];
    const records = Array.from({ length: 7 }, () => sampleRecord({ organizationId }));
    const fields = records.flatMap((record) => ['r', JSON.stringify(record)]);
    const draft = JSON.stringify({ ...lost, organizationId });
    await append(organizationId, ...fields, 'r', '{', 'x', draft, 'c', '0');
    const ledger = createPostgresLedger({ db: migrated.db, clock: systemClock, copies: true });
    const first = work({
      ledger: {
        async write(all) {
          await ledger.write(all.slice(0, 3));
          throw new Error('the process is killed');
        },
      },
    });
    await until(async () => (await rows()).length === 3, 'no part of the entry is committed');
    await first.stop();
    assert.equal(await waitingEntries(), 1);
    const second = work({ abandonedMs: 0, claimEveryMs: 50 });
    await until(async () => (await waitingEntries()) === 0, 'the entry is not taken over');
    const found = await rows();
    assert.deepEqual(
      found.map(({ request_id }) => request_id),
      [...records, lost].map(({ requestId }) => requestId).sort(),
    );
    assert.deepEqual(second.counts(), { rows: 5, poisoned: 1 });
    const [sums] = await migrated.db
      .selectFrom('request_rollups')
      .select(({ fn }) => [
        fn.sum<string>('requests_completed').as('completed'),
        fn.sum<string>('requests_failed').as('failed'),
      ])
      .where('bucket', '=', 'hour')
      .where('family', '=', 'caller')
      .where('organization_id', '=', organizationId)
      .execute();
    assert.deepEqual(sums, { completed: '7', failed: '1' });
  });

  it('two workers share the streams, and every request has one row', async () => {
    const records = Array.from({ length: 300 }, () => sampleRecord());
    work();
    work({ redis: proxied });
    for (const record of records) {
      await append(record.organizationId, 'r', JSON.stringify(record));
      // Sent twice, as after a lost reply.
      await append(record.organizationId, 'r', JSON.stringify(record));
    }
    await until(async () => (await waitingEntries()) === 0, 'entries stay in the streams');
    assert.equal((await rows()).length, 300);
    assert.equal(
      workers.reduce((sum, worker) => sum + worker.counts().rows, 0),
      300,
    );
  });

  it('entries that cannot be read or written are set aside and delay no other', async () => {
    const good = sampleRecord();
    const { organizationId } = good;
    await append(organizationId, 'r', '{"requestId":');
    await append(organizationId, 'x', '{}', 'c', '0');
    await append(organizationId, 'unknown', 'field');
    await append(organizationId, 'r', JSON.stringify({ ...sampleRecord(), attempts: null }));
    await append(organizationId, 'r', JSON.stringify(sampleRecord({ organizationId: 'not-a-uuid' })));
    await append(
      organizationId,
      'r',
      JSON.stringify(sampleRecord({ requestId: 'ffffffff-ffff-7000-8000-000000000000' })),
    );
    await append(organizationId, 'r', JSON.stringify(good));
    const worker = work();
    await until(async () => (await waitingEntries()) === 0, 'entries stay in the streams');
    assert.deepEqual(
      (await rows()).map(({ request_id }) => request_id),
      [good.requestId],
    );
    assert.deepEqual(worker.counts(), { rows: 1, poisoned: 6 });
    const noted = await migrated.db.selectFrom('poisoned_usage').selectAll().orderBy('entry_id').execute();
    assert.deepEqual(
      noted.map(({ reason }) => reason),
      [
        'unreadable: SyntaxError',
        'unreadable: TypeError',
        'unreadable: TypeError',
        'unreadable: TypeError',
        'rejected: error 22P02',
        'its request ID has an implausible time',
      ],
    );
    assert.ok(noted.every(({ stream }) => stream === usageStreamOf(prefixOf(organizationId))));
    assert.equal(noted[5]?.request_id, 'ffffffff-ffff-7000-8000-000000000000');
    assert.ok(noted.every(({ sealed_payload }) => (sealed_payload?.length ?? 0) > 0));
    assert.ok(noted.every(({ sealed_payload }) => !sealed_payload?.includes('requestId')));
  });

  it('a record from days ago is written to the partition of its day', async () => {
    const hex = (Date.now() - 20 * 86_400_000).toString(16).padStart(12, '0');
    const record = sampleRecord({ requestId: `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000001` });
    await append(record.organizationId, 'r', JSON.stringify(record));
    const worker = work();
    await until(async () => (await rows()).length === 1, 'the row is not written');
    assert.equal(worker.counts().poisoned, 0);
  });

  it('while PostgreSQL is unavailable entries stay in the stream, and are written when it is back', async () => {
    const postgres = await startTcpProxy({ target: migrated.url });
    const database = createDatabase({ url: postgres.url, log });
    try {
      const { db } = database;
      const worker = work({ db, ledger: createPostgresLedger({ db, clock: systemClock, copies: true }) });
      const earlier = sampleRecord();
      await append(earlier.organizationId, 'r', JSON.stringify(earlier));
      await until(async () => (await waitingEntries()) === 0, 'the worker does not start');
      await postgres.refuse();
      const records = Array.from({ length: 120 }, () => sampleRecord());
      for (const record of records) await append(record.organizationId, 'r', JSON.stringify(record));
      await until(async () => {
        const stream = usageStreamOf(prefixOf(records[0]?.organizationId ?? ''));
        return (await consumersOf(stream)).length > 0;
      }, 'nothing is taken');
      assert.equal(await waitingEntries(), 120);
      await postgres.heal();
      await until(async () => (await waitingEntries()) === 0, 'entries stay in the streams');
      assert.equal((await rows()).length, 121);
      assert.deepEqual(worker.counts(), { rows: 121, poisoned: 0 });
      await worker.stop();
    } finally {
      await database.close();
      await postgres.close();
    }
  });

  it('after Redis comes back empty, records kept in the journal still arrive', async () => {
    using directory = spoolDirectory();
    const spool = spoolBefore(redis, directory.path);
    const earlier = sampleRecord();
    await append(earlier.organizationId, 'r', JSON.stringify(earlier));
    work();
    await until(async () => (await waitingEntries()) === 0, 'entries stay in the streams');
    const sink = usageBefore(redis, spool.record);
    await server.kill();
    const record = sampleRecord();
    sink.append(record.organizationId, JSON.stringify(record));
    await until(async () => spool.state().waiting === 1, 'the record is not kept');
    await server.start();
    await redis.whenReady(60_000);
    await until(async () => (await rows()).length === 2, 'the row is not written');
    assert.equal(await sink.close(1_000), 0);
    assert.deepEqual(await spool.stop(1_000), { kept: 0, lost: 0 });
  });

  it('a stopped worker leaves the consumer groups', async () => {
    const record = sampleRecord();
    await append(record.organizationId, 'r', JSON.stringify(record));
    const worker = work();
    await until(async () => (await waitingEntries()) === 0, 'entries stay in the streams');
    await worker.stop();
    const stream = usageStreamOf(prefixOf(record.organizationId));
    assert.deepEqual(await redis.run(['XINFO', 'CONSUMERS', stream, 'ledger']), []);
  });
});
