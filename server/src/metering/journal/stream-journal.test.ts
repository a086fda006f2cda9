import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import {
  chmodSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { RelayError } from '../../domain/relay-error.ts';
import { systemClock } from '../../kit/clock.ts';
import { createLog } from '../../kit/log.ts';
import { storeUnavailable } from '../../store/store-error.ts';
import { spoolDirectory } from '../kept-usage.fixture.ts';
import { lineOf } from './journal-entry.ts';
import { nameOf, thisProcess } from './journal-names.ts';
import { createStreamJournal, type StreamJournal, type StreamJournalDeps } from './stream-journal.ts';

const ORGANIZATION = '0197d2f0-0000-7000-8000-000000000001';
const USED = { dispatched: true, tokens: 5, spendMicros: 7 };
const UNUSED = { dispatched: false, tokens: 0, spendMicros: 0 };

describe('the journal in front of the stream', () => {
  let directory: ReturnType<typeof spoolDirectory>;
  let spools: StreamJournal[];
  /** What Redis has accepted, in order; nothing while it is unavailable. */
  let heard: string[];
  let isAway: boolean;

  beforeEach(() => {
    directory = spoolDirectory();
    spools = [];
    heard = [];
    isAway = true;
  });
  afterEach(async () => {
    await Promise.all(spools.map((spool) => spool.stop(0)));
    directory[Symbol.dispose]();
  });

  function hear(text: string): void {
    if (isAway) throw storeUnavailable('redis', 'away');
    heard.push(text);
  }

  function spoolHere(over: Partial<StreamJournalDeps> = {}): StreamJournal {
    const spool = createStreamJournal({
      directory: directory.path,
      bytesMax: 1_048_576,
      ownerId: randomUUIDv7(),
      settle: async ({ operationId, record }) => hear(`settle ${operationId} ${record}`),
      send: async (_organizationId, fields) => hear(`send ${fields.join(' ')}`),
      clock: systemClock,
      log: createLog('silent'),
      ...over,
    });
    spools.push(spool);
    return spool;
  }

  function draft(spool: StreamJournal, operationId: string, underWay = 1): void {
    spool.draft(
      { organizationId: ORGANIZATION, operationId, candidate: 2, draft: `draft-${operationId}` },
      underWay,
    );
  }

  function settle(spool: StreamJournal, operationId: string, actual = USED): void {
    spool.settlement({ organizationId: ORGANIZATION, operationId, actual, record: `record-${operationId}` });
  }

  function files(): string[] {
    return readdirSync(directory.path);
  }

  /** A file that a killed process left. */
  function leave(text: string, createdMs = 1): string {
    const owner = { ...thisProcess(randomUUIDv7()), createdMs, serial: 1 };
    const path = join(directory.path, nameOf(owner));
    writeFileSync(path, text);
    return path;
  }

  async function until(holds: () => boolean, what: string): Promise<void> {
    const endMs = performance.now() + 10_000;
    while (!holds()) {
      assert.ok(performance.now() < endMs, what);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  it('delivers when Redis is back, settlements first, and leaves no file behind', async () => {
    const spool = spoolHere();
    spool.start();
    draft(spool, 'a');
    spool.record(ORGANIZATION, 'refused-1');
    settle(spool, 'a');
    spool.record(ORGANIZATION, 'refused-2');
    assert.equal(spool.state().waiting, 3);
    assert.equal(files().length, 1);
    isAway = false;
    await until(() => spool.state().waiting === 0, 'it is not brought');
    assert.deepEqual(heard, ['settle a record-a', 'send r refused-1 r refused-2']);
    assert.deepEqual(files(), []);
    assert.equal(spool.state().bytes, 0);
  });

  it('a request in flight keeps its draft on disk until it is settled', async () => {
    const spool = spoolHere();
    spool.start();
    draft(spool, 'a');
    draft(spool, 'b');
    settle(spool, 'b');
    isAway = false;
    await until(() => spool.state().waiting === 0, 'it is not brought');
    assert.equal(files().length, 1, 'the file with the open draft is gone');
    settle(spool, 'a');
    await until(() => spool.state().waiting === 0, 'it is not brought');
    assert.deepEqual(files(), []);
    assert.deepEqual(heard, ['settle b record-b', 'settle a record-a']);
  });

  it('the next process takes over what a killed one left: ends are delivered, drafts recorded as lost', async () => {
    const [a, b] = ['a', 'b'].map((operationId) =>
      lineOf({
        kind: 'draft',
        organizationId: ORGANIZATION,
        operationId,
        candidate: 2,
        draft: `draft-${operationId}`,
      }),
    );
    const end = lineOf({
      kind: 'settlement',
      organizationId: ORGANIZATION,
      operationId: 'a',
      actual: USED,
      record: 'record-a',
    });
    leave(`${a}${b}${end}["s","torn`);
    isAway = false;
    const spool = spoolHere();
    spool.start();
    await until(() => spool.state().waiting === 0, 'it is not brought');
    assert.deepEqual(heard, ['settle a record-a', 'send x draft-b c 2']);
    assert.deepEqual(files(), []);
  });

  it('a line that cannot be read, or of another version, stops no other, and its file is kept beside', async () => {
    const left = (record: string) => lineOf({ kind: 'record', organizationId: ORGANIZATION, record });
    const path = leave(`${left('one')}garbage\n["r2","${ORGANIZATION}",{}]\n${left('two')}`);
    isAway = false;
    const spool = spoolHere();
    spool.start();
    await until(() => spool.state().waiting === 0 && files().length === 1, 'it is not brought');
    assert.deepEqual(heard, ['send r one r two']);
    const [kept = ''] = files();
    assert.ok(kept.endsWith('.damaged') && kept !== path, kept);
    assert.ok(readFileSync(join(directory.path, kept), 'utf8').includes('garbage'));
    // It is not taken over again.
    const next = spoolHere();
    next.start();
    await until(() => next.state().waiting === 0, 'it is not brought');
    assert.equal(heard.length, 1);
  });

  it('when several processes start together, one of them takes over each file', async () => {
    for (let index = 0; index < 20; index += 1)
      leave(lineOf({ kind: 'record', organizationId: ORGANIZATION, record: `left-${index}` }), index);
    isAway = false;
    const started = Array.from({ length: 4 }, () => spoolHere());
    for (const spool of started) spool.start();
    await until(() => started.every((spool) => spool.state().waiting === 0), 'it is not brought');
    assert.equal(heard.length, 20);
    assert.equal(new Set(heard).size, 20);
    assert.deepEqual(files(), []);
  });

  it('older files are delivered before newer ones', async () => {
    for (const age of [30, 10, 20])
      leave(lineOf({ kind: 'record', organizationId: ORGANIZATION, record: `left-${age}` }), age);
    isAway = false;
    const spool = spoolHere();
    spool.start();
    await until(() => spool.state().waiting === 0, 'it is not brought');
    assert.deepEqual(heard, ['send r left-10', 'send r left-20', 'send r left-30']);
  });

  it('files of a live process, here or elsewhere, are not taken until they are untouched for a minute', async () => {
    const text = lineOf({ kind: 'record', organizationId: ORGANIZATION, record: 'left' });
    const name = { createdMs: 1, serial: 1, id: randomUUIDv7() };
    const here = join(directory.path, nameOf({ ...name, pid: process.ppid, host: thisProcess('').host }));
    const elsewhere = join(directory.path, nameOf({ ...name, pid: 4_194_300, host: 'another.host' }));
    writeFileSync(here, text);
    writeFileSync(elsewhere, text);
    writeFileSync(join(directory.path, 'README'), 'not of the spool');
    isAway = false;
    spoolHere().start();
    assert.equal(files().length, 3);
    assert.equal(spools[0]?.state().waiting, 0);
    const longAgo = new Date(Date.now() - 61_000);
    for (const path of [here, elsewhere]) utimesSync(path, longAgo, longAgo);
    const later = spoolHere();
    later.start();
    await until(() => later.state().waiting === 0, 'it is not brought');
    assert.deepEqual(files(), ['README']);
  });

  it('a live process whose file was taken over continues in another', async () => {
    const spool = spoolHere();
    draft(spool, 'a');
    const [taken = ''] = files();
    renameSync(
      join(directory.path, taken),
      join(directory.path, nameOf({ ...thisProcess(randomUUIDv7()), createdMs: 1, serial: 9 })),
    );
    settle(spool, 'a');
    const other = spoolHere();
    isAway = false;
    other.start();
    spool.start();
    await until(() => [spool, other].every((each) => each.state().waiting === 0), 'it is not brought');
    assert.deepEqual(heard.sort(), ['send x draft-a c 2', 'settle a record-a']);
    assert.deepEqual(files(), []);
  });

  it('without space for a request and for the ends of those in flight, the request is rejected; ends are written', () => {
    const spool = spoolHere({ bytesMax: 65_536 });
    const refused = (error: unknown) => error instanceof RelayError && error.code === 'metering_unavailable';
    draft(spool, 'a', 15);
    assert.throws(() => draft(spool, 'b', 16), refused);
    for (let index = 0; index < 1_000; index += 1) settle(spool, `under-way-${index}`);
    assert.equal(spool.state().waiting, 1_000);
    assert.ok(spool.state().bytes > 65_536);
    assert.throws(() => draft(spool, 'c', 0), refused);
    assert.equal(spool.state().dropped, 0);
  });

  it('records of requests that were never dispatched take at most half of the space', () => {
    const spool = spoolHere({ bytesMax: 65_536 });
    for (let index = 0; index < 1_000; index += 1) spool.record(ORGANIZATION, `refused-${index}`);
    const { bytes, waiting, dropped } = spool.state();
    assert.ok(bytes <= 32_768 && bytes > 32_000, `${bytes} bytes`);
    assert.equal(waiting + dropped, 1_000);
    settle(spool, 'never-sent', UNUSED);
    assert.equal(spool.state().dropped, dropped + 1);
    draft(spool, 'a', 1);
    settle(spool, 'a', UNUSED);
    assert.equal(spool.state().waiting, waiting + 1, 'the end of a draft is dropped');
  });

  it('while the directory cannot be written, requests are rejected, and ends wait in memory for the disk or Redis', async () => {
    const blocked = join(directory.path, 'blocked');
    writeFileSync(blocked, 'a file where a directory should be');
    const spool = spoolHere({ directory: blocked });
    spool.start();
    assert.throws(() => draft(spool, 'a'), /can’t record usage/);
    settle(spool, 'b');
    settle(spool, 'c');
    assert.equal(spool.state().waiting, 2);
    rmSync(blocked);
    await until(() => files().includes('blocked') && readdirSync(blocked).length === 1, 'it is not written');
    assert.equal(spool.state().waiting, 2);
    isAway = false;
    await until(() => spool.state().waiting === 0, 'it is not brought');
    assert.deepEqual(heard, ['settle b record-b', 'settle c record-c']);
    writeFileSync(join(directory.path, 'still blocked'), '');
    const other = spoolHere({ directory: join(directory.path, 'still blocked') });
    isAway = true;
    settle(other, 'd');
    assert.deepEqual(await other.stop(100), { kept: 0, lost: 1 });
  });

  it('an unavailable shard delays no other', async () => {
    const [near, far] = [ORGANIZATION, '0197d2f0-0000-7000-8000-000000000002'];
    isAway = false;
    const settleUnless =
      (away: () => boolean): StreamJournalDeps['settle'] =>
      async ({ organizationId, record }) => {
        if (organizationId === far && away()) throw storeUnavailable('redis', 'away');
        heard.push(record);
      };
    let farAway = true;
    const spool = spoolHere({ settle: settleUnless(() => farAway) });
    for (let index = 0; index < 100; index += 1)
      for (const organizationId of [far, near])
        spool.settlement({
          organizationId,
          operationId: `${organizationId}-${index}`,
          actual: USED,
          record: organizationId,
        });
    spool.start();
    await until(() => spool.state().waiting === 100, 'the near shard is held up');
    assert.equal(heard.length, 100);
    farAway = false;
    await until(() => spool.state().waiting === 0, 'the far shard is not served');
    assert.equal(heard.length, 200, 'something was brought twice');
  });

  it('the record of a settlement that the engine refuses goes to the stream', async () => {
    isAway = false;
    const spool = spoolHere({
      settle: async () => {
        throw new Error('WRONGTYPE');
      },
    });
    settle(spool, 'a');
    await until(() => spool.state().waiting === 0, 'it is not brought');
    assert.deepEqual(heard, ['send r record-a']);
  });

  it('undelivered entries stay on disk at the stop and are counted', async () => {
    const spool = spoolHere();
    spool.start();
    settle(spool, 'a');
    spool.record(ORGANIZATION, 'refused');
    assert.deepEqual(await spool.stop(300), { kept: 2, lost: 0 });
    settle(spool, 'late');
    isAway = false;
    const next = spoolHere();
    next.start();
    await until(() => next.state().waiting === 0 && heard.length === 3, 'it is not brought');
    assert.deepEqual(heard.sort(), ['send r refused', 'settle a record-a', 'settle late record-late']);
  });

  it('files are readable by their owner alone', () => {
    chmodSync(directory.path, 0o777);
    settle(spoolHere(), 'a');
    const [name = ''] = files();
    assert.equal(statSync(join(directory.path, name)).mode & 0o777, 0o600);
    assert.match(readFileSync(join(directory.path, name), 'utf8'), /^\["s",/);
  });

  it('a long outage is kept in several files, each removed once it is delivered', async () => {
    const spool = spoolHere({ bytesMax: 64 * 1024 * 1024 });
    const large = 'x'.repeat(100_000);
    for (let index = 0; index < 100; index += 1)
      spool.settlement({
        organizationId: ORGANIZATION,
        operationId: `${index}`,
        actual: USED,
        record: large,
      });
    assert.equal(files().length, 3);
    isAway = false;
    spool.start();
    await until(() => spool.state().waiting === 0, 'it is not brought');
    assert.equal(heard.length, 100);
    assert.deepEqual(files(), []);
  });
});
