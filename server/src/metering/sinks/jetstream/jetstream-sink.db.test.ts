import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { type PrivateNats, startNats } from '@relay/testbed';
import { GATEWAY_LOST } from '../../../domain/expired-draft.ts';
import type { RequestRecord } from '../../../domain/request-record.ts';
import { systemClock } from '../../../kit/clock.ts';
import { createLog } from '../../../kit/log.ts';
import {
  type MigratedDatabase,
  migratedDatabase,
} from '../../../store/fixtures/migrated-database.fixture.ts';
import { ensureLedgerPartitions, utcDayOf } from '../../../store/ledger/ledger-partitions.ts';
import { PortionLostError } from '../../../store/ledger/sinks/portions.ts';
import { readSinkRows } from '../../../store/ledger/sinks/read-rows.ts';
import { ledgerRow } from '../../ledger-row.ts';
import { sampleRecord } from '../../request-records.fixture.ts';
import { followLedger, type SinkFollower } from '../follow-ledger.ts';
import type { LedgerSink, SinkPortion } from '../ledger-sink.ts';
import { createPostgresLedger } from '../postgres-ledger.ts';
import { writePortion } from '../write-portion.ts';
import { createJetStreamSink, type JetStreamDeps } from './jetstream-sink.ts';
import { parseNatsUrl } from './nats-servers.ts';

/** The shortest that the server takes. After it, only what Relay does itself keeps a row from coming twice. */
const WINDOW_MS = 100;
const afterWindow = () => new Promise((resolve) => setTimeout(resolve, 1.5 * WINDOW_MS));

describe('a JetStream stream beside the ledger', () => {
  let migrated: MigratedDatabase;
  let nats: PrivateNats;
  let stream: string;
  let opened: LedgerSink[];
  let followers: SinkFollower[];

  before(async () => {
    [migrated, nats] = await Promise.all([migratedDatabase(), startNats()]);
    const today = utcDayOf(Date.now());
    await ensureLedgerPartitions(migrated.db, today, today);
  });
  after(async () => {
    await migrated.drop();
    await nats.remove();
  });
  beforeEach(async () => {
    stream = `TEST_${randomUUIDv7()}`;
    [opened, followers] = [[], []];
    await withManager(({ streams }) =>
      streams.add({ name: stream, subjects: [`${stream}.*`], duplicate_window: WINDOW_MS * 1e6 }),
    );
    for (const table of ['requests', 'sink_outbox', 'sink_portions', 'sink_leases'] as const)
      await migrated.db.deleteFrom(table).execute();
  });
  afterEach(async () => {
    await Promise.all(followers.map((follower) => follower.stop()));
    await Promise.all(opened.map((sink) => sink.close()));
  });

  /** The sink of one process. */
  function sinkOf(over: Partial<JetStreamDeps> = {}): LedgerSink {
    const sink = createJetStreamSink({
      servers: parseNatsUrl(nats.url),
      credentialsFile: null,
      stream,
      newPortionId: () => randomUUIDv7(),
      ...over,
    });
    opened.push(sink);
    return sink;
  }

  function follow(sink: LedgerSink = sinkOf()): SinkFollower {
    const deps = { db: migrated.db, holder: randomUUIDv7(), gatherMs: 0, clock: systemClock };
    const follower = followLedger({ ...deps, sink, log: createLog('silent') });
    followers.push(follower);
    return follower;
  }

  const write = (records: readonly RequestRecord[]) =>
    createPostgresLedger({ db: migrated.db, clock: systemClock, sinks: ['jetstream'] }).write(
      records.map((record) => ledgerRow(record, Date.now())),
    );
  const some = (count: number) => Array.from({ length: count }, () => sampleRecord());
  const waiting = async () => (await migrated.db.selectFrom('sink_outbox').select('id').execute()).length;
  const portion = (sink: LedgerSink) => writePortion({ db: migrated.db, sink });

  async function withManager<T>(
    work: (manager: Awaited<ReturnType<typeof jetstreamManager>>) => Promise<T>,
  ): Promise<T> {
    const connection = await connect({ servers: [`127.0.0.1:${nats.port}`] });
    try {
      return await work(await jetstreamManager(connection));
    } finally {
      await connection.close();
    }
  }

  /** What the stream holds, in order. */
  function messages() {
    return withManager(async ({ streams }) => {
      const { first_seq, last_seq } = (await streams.info(stream)).state;
      const found = [];
      for (let seq = first_seq; seq <= last_seq; seq += 1) {
        const message = await streams.getMessage(stream, { seq });
        if (message !== null) found.push(message);
      }
      return found;
    });
  }

  const idsInStream = async () => (await messages()).map(({ header }) => header.get('Nats-Msg-Id')).sort();
  async function idsInLedger(): Promise<string[]> {
    const rows = await migrated.db.selectFrom('requests').select('request_id').execute();
    return rows.map(({ request_id }) => request_id).sort();
  }

  const someone = () => ({ id: randomUUIDv7(), database: 'host/name' });

  it('belongs to the deployment that created it, or that sent its last message', async () => {
    const [one, other] = [someone(), someone()];
    assert.equal(await sinkOf().claim(one), null);
    // The operator created the stream, so nothing tells before the first message.
    const late = sinkOf();
    assert.equal(await late.claim(other), null);
    const first = sinkOf();
    await first.claim(one);
    await write(some(3));
    await follow(first).runOnce();
    const sent = await messages();
    assert.deepEqual([...new Set(sent.map(({ header }) => header.get('Relay-Deployment')))], [one.id]);
    assert.equal((await sinkOf().claim(other))?.id, one.id);
    await write(some(1));
    await assert.rejects(portion(late), { name: 'ForeignStreamError' });
    assert.equal((await messages()).length, sent.length);
    const own = `${stream}_OWN`;
    assert.equal(await sinkOf({ stream: own }).claim(one), null);
    assert.deepEqual(await sinkOf({ stream: own }).claim(other), one);
  });

  it('takes rows of one of two deployments that begin at the same time', async () => {
    const sinks = [sinkOf(), sinkOf()];
    for (const sink of sinks) await sink.claim(someone());
    await write(some(10));
    // Each of the two has read that the stream is empty.
    const begun = await Promise.all(sinks.map((sink) => sink.begin(() => assert.fail('nothing to settle'))));
    const rows = await readSinkRows(migrated.db, await idsInLedger());
    const added = await Promise.allSettled(
      begun.map((each, index) => each.add(rows.slice(5 * index, 5 * index + 5))),
    );
    assert.deepEqual(added.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    const deployments = (await messages()).map(({ header }) => header.get('Relay-Deployment'));
    assert.equal(deployments.length, 5);
    assert.equal(new Set(deployments).size, 1);
    for (const each of begun) await each.close();
  });

  it('gets every row once, under its organization, with the line of the files', async () => {
    const record = sampleRecord({ clientRequestId: 'client "7"', model: 'fast' });
    await write([record, ...some(600)]);
    const follower = follow();
    await follower.runOnce();
    await write(some(5));
    await follower.runOnce();
    assert.deepEqual(await idsInStream(), await idsInLedger());
    const found = (await messages()).find(({ header }) => header.get('Nats-Msg-Id') === record.requestId);
    assert.equal(found?.subject, `${stream}.${record.organizationId}`);
    const line = found.json<Record<string, unknown>>();
    assert.equal(line['client_request_id'], 'client "7"');
    assert.equal(line['cost_micros'], 5);
    assert.match(String(line['cost_usd']), /^\d+\.\d+$/);
    assert.equal(follower.state().rows, 606);
    assert.equal(follower.state().failures, 0);
    assert.equal(await waiting(), 0);
  });

  /** What is left of a process that is killed at one step of a portion. */
  const moments: Readonly<Record<string, (sink: LedgerSink) => LedgerSink>> = {
    'before the first message': (sink) => stopping(sink, { add: killed }),
    'among the messages': (sink) =>
      stopping(sink, {
        add: async (open, rows) => {
          await open.add(rows.slice(0, 2));
          await killed();
        },
      }),
    'between the messages and the commit': (sink) => stopping(sink, { seal: killed }),
    'after the commit': (sink) => ({ ...sink, publish: killed }),
  };

  for (const [moment, broken] of Object.entries(moments))
    it(`has each row once after a kill ${moment}`, async () => {
      await write(some(7));
      await assert.rejects(portion(broken(sinkOf())), /killed/);
      await write(some(3));
      await afterWindow();
      await follow().runOnce();
      assert.deepEqual(await idsInStream(), await idsInLedger());
      assert.equal(await waiting(), 0);
    });

  it('has each row once after many kills in a row', async () => {
    for (let kill = 0; kill < 5; kill += 1) {
      await write(some(4));
      const sink = stopping(sinkOf(), { seal: killed });
      await assert.rejects(portion(sink), /killed/);
      await afterWindow();
    }
    await follow().runOnce();
    assert.deepEqual(await idsInStream(), await idsInLedger());
  });

  it('has each row once when full portions follow one that was killed', async () => {
    for (let batch = 0; batch < 6; batch += 1) await write(some(4));
    await assert.rejects(portion(stopping(sinkOf({ messagesMax: 20 }), { seal: killed })), /killed/);
    const known = await migrated.db.selectFrom('sink_outbox').select('id').execute();
    await write(some(4));
    // Its transaction began before those that the killed worker saw, so its entry comes first and fills a portion.
    await migrated.db
      .updateTable('sink_outbox')
      .set({ created_at: new Date(Date.now() - 60_000) })
      .where(
        'id',
        'not in',
        known.map(({ id }) => id),
      )
      .execute();
    await afterWindow();
    const sink = sinkOf({ messagesMax: 3 });
    while ((await portion(sink)).hasMore);
    assert.deepEqual(await idsInStream(), await idsInLedger());
    assert.equal(await waiting(), 0);
  });

  it('has each row once when a worker that was frozen continues', async () => {
    await write(some(6));
    for (const step of ['add', 'seal'] as const) {
      const frozen = stopping(sinkOf(), {
        [step]: async (open: SinkPortion, rows: Parameters<SinkPortion['add']>[0]) => {
          // Meanwhile another worker does the same work.
          if (step === 'add') await open.add(rows.slice(0, 1));
          await portion(sinkOf());
          await afterWindow();
          if (step === 'add') await open.add(rows.slice(1));
        },
      });
      await assert.rejects(portion(frozen), step === 'add' ? /wrong last sequence/ : PortionLostError);
      assert.deepEqual(await idsInStream(), await idsInLedger());
      await write(some(6));
    }
    await follow().runOnce();
    assert.deepEqual(await idsInStream(), await idsInLedger());
  });

  it('has each row once when two workers write at the same time', async () => {
    for (let batch = 0; batch < 10; batch += 1) await write(some(10));
    await Promise.allSettled([portion(sinkOf()), portion(sinkOf())]);
    await follow().runOnce();
    assert.deepEqual(await idsInStream(), await idsInLedger());
  });

  it('has the record of a gateway that came back, after its estimate or instead of it', async () => {
    const lost = () => sampleRecord({ state: 'failed', cause: GATEWAY_LOST, usageSource: 'estimated' });
    const [early, late] = [lost(), lost()];
    const better = ({ requestId, organizationId }: RequestRecord) =>
      sampleRecord({ requestId, organizationId });
    await write([early, late]);
    await assert.rejects(portion(stopping(sinkOf(), { seal: killed })), /killed/);
    await write([better(early)]);
    await follow().runOnce();
    await write([better(late)]);
    await follow().runOnce();
    const ids = (await messages()).map(({ header }) => header.get('Nats-Msg-Id'));
    const both = [early, late].map(({ requestId }) => requestId);
    assert.deepEqual(ids.slice(0, 2).sort(), both.map((id) => `${id}.estimate`).sort());
    assert.deepEqual(ids.slice(2), both);
  });

  it('that cannot be reached holds up no row of the ledger, and catches up', async () => {
    await write(some(3));
    const follower = follow();
    await follower.runOnce();
    await nats.kill();
    assert.equal((await write(some(8))).rows, 8);
    await follower.runOnce();
    assert.equal(follower.state().failures, 1);
    assert.equal(follower.state().backlog?.rows, 8);
    await nats.start();
    await follower.runOnce();
    assert.deepEqual(await idsInStream(), await idsInLedger());
  });

  it('passes over messages of others', async () => {
    await write(some(3));
    await assert.rejects(portion(stopping(sinkOf(), { seal: killed })), /killed/);
    const connection = await connect({ servers: [`127.0.0.1:${nats.port}`] });
    await connection.request(`${stream}.stray`, 'not a row');
    await connection.close();
    await follow().runOnce();
    assert.deepEqual(
      (await idsInStream()).filter((id) => id !== ''),
      await idsInLedger(),
    );
  });

  it('is created when it is missing, on disk and with messages kept for 7 days', async () => {
    await withManager(({ streams }) => streams.delete(stream));
    await write(some(2));
    await follow().runOnce();
    const { config } = await withManager(({ streams }) => streams.info(stream));
    assert.deepEqual(await idsInStream(), await idsInLedger());
    assert.equal(config.storage, 'file');
    assert.equal(config.max_age, 7 * 24 * 3_600 * 1e9);
  });

  it('that would forget messages or does not take the subject is refused with the reason', async () => {
    await write(some(1));
    await withManager(({ streams }) => streams.delete(stream));
    await withManager(({ streams }) =>
      streams.add({ name: stream, subjects: [`${stream}.*`], retention: 'workqueue' }),
    );
    await assert.rejects(portion(sinkOf()), /retention workqueue/);
    await withManager(({ streams }) => streams.delete(stream));
    await withManager(({ streams }) => streams.add({ name: stream, subjects: [`${stream}.other`] }));
    await assert.rejects(portion(sinkOf()), /does not accept the subject/);
    assert.equal(await waiting(), 1);
  });
});

async function killed(): Promise<never> {
  throw new Error('killed');
}

interface Steps {
  readonly add?: (portion: SinkPortion, rows: Parameters<SinkPortion['add']>[0]) => Promise<void>;
  readonly seal?: (portion: SinkPortion) => Promise<void>;
}

/** The sink with other steps in its portions. */
function stopping(sink: LedgerSink, { add, seal }: Steps): LedgerSink {
  return {
    ...sink,
    async begin(settle) {
      const portion = await sink.begin(settle);
      return {
        ...portion,
        ...(add === undefined ? {} : { add: (rows) => add(portion, rows) }),
        ...(seal === undefined ? {} : { seal: () => seal(portion) }),
      };
    },
  };
}
