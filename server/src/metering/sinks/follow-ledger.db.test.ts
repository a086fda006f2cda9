import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { GATEWAY_LOST } from '../../domain/expired-draft.ts';
import type { RequestRecord } from '../../domain/request-record.ts';
import { systemClock } from '../../kit/clock.ts';
import { createLog } from '../../kit/log.ts';
import { MARK_FILE } from '../../store/deployment/directory-mark.ts';
import { type MigratedDatabase, migratedDatabase } from '../../store/fixtures/migrated-database.fixture.ts';
import { ensureLedgerPartitions, utcDayOf } from '../../store/ledger/ledger-partitions.ts';
import { PortionLostError } from '../../store/ledger/sinks/portions.ts';
import { ledgerRow } from '../ledger-row.ts';
import { sampleRecord } from '../request-records.fixture.ts';
import { createUsageFiles } from './files/usage-files.ts';
import { type FollowDeps, followLedger, type SinkFollower } from './follow-ledger.ts';
import type { LedgerSink, SinkPortion } from './ledger-sink.ts';
import { createPostgresLedger } from './postgres-ledger.ts';
import { finishPortions, writePortion } from './write-portion.ts';

type Line = Readonly<Record<string, unknown>>;

describe('files beside the ledger', () => {
  let migrated: MigratedDatabase;
  let directory: string;
  let followers: SinkFollower[];
  let processes: number;

  before(async () => {
    migrated = await migratedDatabase();
    const today = utcDayOf(Date.now());
    await ensureLedgerPartitions(migrated.db, today, today);
  });
  after(() => migrated.drop());
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'relay-sink-test-'));
    followers = [];
    processes = 0;
    for (const table of ['requests', 'sink_outbox', 'sink_portions', 'sink_leases'] as const)
      await migrated.db.deleteFrom(table).execute();
  });
  afterEach(async () => {
    await Promise.all(followers.map((follower) => follower.stop()));
    rmSync(directory, { recursive: true, force: true });
  });

  /** The sink of one process. */
  function files(over: { readonly bytesMax?: number } = {}): LedgerSink {
    processes += 1;
    const processTag = processes.toString(16).padStart(8, '0');
    return createUsageFiles({ directory, processTag, clock: systemClock, ...over });
  }

  function follow(over: Partial<FollowDeps> = {}): SinkFollower {
    const follower = followLedger({
      db: migrated.db,
      sink: files(),
      holder: randomUUIDv7(),
      gatherMs: 0,
      clock: systemClock,
      log: createLog('silent'),
      ...over,
    });
    followers.push(follower);
    return follower;
  }

  const write = (records: readonly RequestRecord[]) =>
    createPostgresLedger({ db: migrated.db, clock: systemClock, sinks: ['files'] }).write(
      records.map((record) => ledgerRow(record, Date.now())),
    );
  const some = (count: number) => Array.from({ length: count }, () => sampleRecord());
  const lostEstimate = (over: Partial<RequestRecord> = {}) =>
    sampleRecord({ state: 'failed', cause: GATEWAY_LOST, usageSource: 'estimated', ...over });

  const names = (suffix: string) =>
    readdirSync(directory)
      .filter((name) => name.endsWith(suffix))
      .sort();
  const lines = (): Line[] =>
    names('.jsonl').flatMap((name) =>
      readFileSync(join(directory, name), 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Line),
    );
  const idsInFiles = () =>
    lines()
      .map((line) => String(line['request_id']))
      .sort();
  const waiting = async () => (await migrated.db.selectFrom('sink_outbox').select('id').execute()).length;

  async function idsInLedger(): Promise<string[]> {
    const rows = await migrated.db.selectFrom('requests').select('request_id').execute();
    return rows.map(({ request_id }) => request_id).sort();
  }

  /** As files look a minute after their process was killed. */
  function age(): void {
    const longAgo = new Date(Date.now() - 61_000);
    for (const name of names('.part')) utimesSync(join(directory, name), longAgo, longAgo);
  }

  it('leaves the unfinished files of another deployment alone, also in a folder that is swapped while it runs', async () => {
    const [one, other] = [randomUUIDv7(), randomUUIDv7()].map((id) => ({ id, database: '' }));
    assert.ok(one !== undefined && other !== undefined);
    const [own, foreign] = [files(), files()];
    assert.equal(await own.claim(one), null);
    assert.deepEqual(await foreign.claim(other), one);
    for (const work of [() => foreign.unfinished(), () => foreign.begin(() => Promise.resolve('discarded'))])
      await assert.rejects(work, /belongs to another deployment/);
    assert.deepEqual(await own.unfinished(), []);
    rmSync(join(directory, MARK_FILE));
    await files().claim(other);
    await assert.rejects(own.unfinished(), /belongs to another deployment/);
  });

  it('get every row of the ledger, and a closed file is complete', async () => {
    const record = sampleRecord({ clientRequestId: 'client "7"', model: 'fast' });
    await write([record, ...some(9)]);
    await write(some(5));
    const follower = follow();
    await follower.runOnce();
    assert.equal(names('.jsonl').length, 1);
    assert.deepEqual(idsInFiles(), await idsInLedger());
    assert.deepEqual(names('.part'), []);
    const line = lines().find((each) => each['request_id'] === record.requestId);
    assert.equal(line?.['organization_id'], record.organizationId);
    assert.equal(line?.['client_request_id'], 'client "7"');
    assert.equal(line?.['cost_micros'], 5);
    assert.match(String(line?.['settled_at']), /^\d{4}-.*Z$/);
    assert.deepEqual(follower.state().backlog, { batches: 0, rows: 0, oldestMs: 0 });
    assert.equal(follower.state().rows, 15);
  });

  it('are closed when a row has waited its time, at the stop, and not before', async () => {
    await write(some(3));
    const follower = follow({ gatherMs: 3_600_000 });
    await follower.runOnce();
    assert.deepEqual(readdirSync(directory), []);
    assert.equal(follower.state().backlog?.rows, 3);
    await follower.stop();
    assert.deepEqual(idsInFiles(), await idsInLedger());
  });

  it('get a row that is sent twice once, and no row that the ledger refused', async () => {
    const records = [...some(4), sampleRecord({ latencyMs: 2 ** 40 })];
    await write(records);
    await write(records);
    await follow().runOnce();
    assert.equal(idsInFiles().length, 4);
    assert.deepEqual(idsInFiles(), await idsInLedger());
  });

  it('are rotated by size, and their names are in the order of the rows', async () => {
    const batches = Array.from({ length: 5 }, () => some(20));
    for (const batch of batches) await write(batch);
    await follow({ sink: files({ bytesMax: 30_000 }) }).runOnce();
    assert.ok(names('.jsonl').length > 2, `${names('.jsonl').length} files`);
    assert.deepEqual(idsInFiles(), await idsInLedger());
    const batchOf = (line: Line) =>
      batches.findIndex((batch) => batch.some(({ requestId }) => requestId === line['request_id']));
    const order = lines().map(batchOf);
    assert.deepEqual(
      order,
      order.toSorted((one, other) => one - other),
    );
  });

  /** What is left of a process that is killed at one step of a portion. */
  const moments: Readonly<Record<string, (sink: LedgerSink) => LedgerSink>> = {
    'with an empty file': (sink) => stopping(sink, { add: killed }),
    'in the middle of a file': (sink) =>
      stopping(sink, {
        add: async (portion, rows) => {
          await portion.add(rows.slice(0, 2));
          await killed();
        },
      }),
    'before the rows are synced': (sink) => stopping(sink, { seal: killed }),
    'with a whole file that is not committed': (sink) => stopping(sink, { close: killed }),
    'between the commit and the rename': (sink) => ({ ...sink, publish: killed }),
    'after the rename': (sink) => ({
      ...sink,
      publish: async (id) => {
        await sink.publish(id);
        await killed();
      },
    }),
  };

  for (const [moment, broken] of Object.entries(moments))
    it(`have each row once after a kill ${moment}`, async () => {
      await write(some(7));
      await assert.rejects(writePortion({ db: migrated.db, sink: broken(files()) }), /killed/);
      await write(some(3));
      // Whether or not a minute has passed.
      const next = follow();
      await next.runOnce();
      assert.deepEqual(idsInFiles(), await idsInLedger());
      age();
      await next.runOnce();
      assert.deepEqual(idsInFiles(), await idsInLedger());
      assert.deepEqual(names('.part'), []);
      assert.equal(await waiting(), 0);
    });

  it('that a log shipper has moved away are not written again', async () => {
    await write(some(4));
    const kill = { ...files(), publish: killed };
    await assert.rejects(writePortion({ db: migrated.db, sink: kill }), /killed/);
    const [open = ''] = names('.part');
    // The killed process had renamed it, and the shipper took it.
    rmSync(join(directory, open));
    await follow().runOnce();
    assert.deepEqual(lines(), []);
    assert.equal(await waiting(), 0);
  });

  it('have each row once when two workers write at the same time', async () => {
    for (let batch = 0; batch < 10; batch += 1) await write(some(10));
    const both = [files(), files()].map((sink) => writePortion({ db: migrated.db, sink }));
    const results = await Promise.allSettled(both);
    for (const result of results)
      if (result.status === 'rejected') assert.ok(result.reason instanceof PortionLostError);
    await follow().runOnce();
    assert.deepEqual(idsInFiles(), await idsInLedger());
  });

  for (const hasWritten of [false, true])
    it(`have each row once when a living worker is taken for dead and the other ${hasWritten ? 'has' : 'has not'} written`, async () => {
      await write(some(6));
      const other = { db: migrated.db, sink: files() };
      const slow = stopping(files(), {
        seal: async (portion) => {
          await portion.seal();
          age();
          await finishPortions(other);
          if (hasWritten) await writePortion(other);
        },
      });
      await assert.rejects(writePortion({ db: migrated.db, sink: slow }), PortionLostError);
      await follow().runOnce();
      assert.deepEqual(idsInFiles(), await idsInLedger());
    });

  it('are written by one worker at a time', async () => {
    await write(some(2));
    const [reached, hanging] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const sink = stopping(files(), {
      seal: async (portion) => {
        reached.resolve();
        await hanging.promise;
        await portion.seal();
      },
    });
    const first = follow({ sink });
    const writing = first.runOnce();
    await reached.promise;
    await follow().runOnce();
    assert.deepEqual(names('.jsonl'), []);
    hanging.resolve();
    await writing;
    assert.deepEqual(idsInFiles(), await idsInLedger());
  });

  it('have the record of a gateway that came back, after its estimate or instead of it', async () => {
    const [early, late] = [lostEstimate(), lostEstimate()];
    await write([early, late]);
    const better = (estimate: RequestRecord) =>
      sampleRecord({ requestId: estimate.requestId, organizationId: estimate.organizationId });
    await write([better(early)]);
    const follower = follow();
    await follower.runOnce();
    const sources = (id: string) =>
      lines()
        .filter((line) => line['request_id'] === id)
        .map((line) => line['usage_source']);
    assert.deepEqual(sources(early.requestId), ['reported']);
    assert.deepEqual(sources(late.requestId), ['estimated']);
    await write([better(late)]);
    await follower.runOnce();
    assert.deepEqual(sources(late.requestId), ['estimated', 'reported']);
  });

  it('that cannot be written hold up no row of the ledger, and catch up', async () => {
    const moved = `${directory}-moved`;
    const follower = follow();
    await follower.runOnce();
    renameSync(directory, moved);
    writeFileSync(directory, 'a file where the directory was');
    try {
      assert.equal((await write(some(8))).rows, 8);
      await follower.runOnce();
      await follower.runOnce();
      assert.equal(follower.state().failures, 2);
      assert.equal(follower.state().backlog?.rows, 8);
    } finally {
      rmSync(directory);
      renameSync(moved, directory);
    }
    await follower.runOnce();
    assert.deepEqual(idsInFiles(), await idsInLedger());
    assert.equal(follower.state().backlog?.rows, 0);
  });
});

async function killed(): Promise<never> {
  throw new Error('killed');
}

interface Steps {
  readonly add?: (portion: SinkPortion, rows: Parameters<SinkPortion['add']>[0]) => Promise<void>;
  readonly seal?: (portion: SinkPortion) => Promise<void>;
  readonly close?: (portion: SinkPortion) => Promise<void>;
}

/** The sink with other steps in its portions. */
function stopping(sink: LedgerSink, { add, seal, close }: Steps): LedgerSink {
  return {
    ...sink,
    async begin(settle) {
      const portion = await sink.begin(settle);
      return {
        ...portion,
        ...(add === undefined ? {} : { add: (rows) => add(portion, rows) }),
        ...(seal === undefined ? {} : { seal: () => seal(portion) }),
        ...(close === undefined
          ? {}
          : {
              close: async () => {
                await portion.close();
                await close(portion);
              },
            }),
      };
    },
  };
}
