import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { RequestLogEntry } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import type { Caller } from '../../domain/caller.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { Handlers } from '../../http/call.ts';
import { type Listener, listen } from '../../http/listener.ts';
import { createManagementApp } from '../../http/management-app.ts';
import { createLog } from '../../kit/log.ts';
import { sampleRow } from '../../store/ledger/ledger-row.fixture.ts';
import type { LedgerRow } from '../../store/ledger/ledger-row.ts';
import { startWalk } from '../../store/ledger/log/walk-log.ts';
import { addMember, type ManagementFixture, startManagement } from '../fixture.ts';
import { csvOf } from './csv.ts';
import { idAt, insertRequests } from './ledger.fixture.ts';
import { searchFor } from './search.ts';

describe('streamed answers of the request log', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let listener: Listener;
  /** Callers by bearer token; removing one rejects it. */
  const callers = new Map<string, Caller>();
  let draining = false;
  let serial = 0;
  /** How many statements the export has run. */
  let steps = 0;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url);
    callers.set('acme', room.acme);
    callers.set('globex', room.globex);
    callers.set('developer', await addMember(room, room.acme, 'developer'));
    const counted: Handlers = {
      ...room.handlers,
      exportRequests: async ({ caller, query, ended }) => {
        const walk = startWalk(
          room.ofOrganization(caller.organizationId),
          searchFor(caller, query),
          Date.now(),
        );
        const next = (limit: number) => {
          steps += 1;
          return walk.next(limit);
        };
        return { chunks: csvOf({ next }, ended) };
      },
    };
    listener = await start(room.handlers);
    counting = await start(counted);
  });
  let counting: Listener;
  after(async () => {
    await Promise.all([listener.drain(0), counting.drain(0)]);
    await room.close();
    await database.drop();
  });

  async function start(handlers: Handlers): Promise<Listener> {
    const everythingElse = await createManagementApp({
      handlers,
      authenticate: ({ headers }) => {
        const caller = callers.get(headers.authorization?.replace('Bearer ', '') ?? '');
        if (caller === undefined) throw new RelayError('revoked_api_key');
        return caller;
      },
      bodyBytesMax: 1_000,
      publicUrl: 'http://relay.test',
      log: createLog('silent'),
      draining: () => draining,
      streamAccessCheckMs: 200,
    });
    return listen(
      { host: '127.0.0.1', port: 0 },
      {
        newRequestId: () => 'minted-id',
        health: () => ({ draining: false, version: '1.0.0', role: 'all', checks: {} }),
        inference: null,
        everythingElse,
        publicUrl: 'http://relay.test',
        headersTimeoutMs: 10_000,
        requestTimeoutMs: 10_000,
      },
    );
  }

  function row(who: string, over: Partial<LedgerRow> = {}): LedgerRow {
    serial += 1;
    const caller = callers.get(who);
    return sampleRow({
      request_id: idAt(Date.now(), serial),
      organization_id: caller?.organizationId ?? '',
      user_id: caller?.userId ?? '',
      settled_at: new Date(),
      ...over,
    });
  }

  async function ask(path: string, who: string, headers: Record<string, string> = {}, at = listener) {
    const request = get(`${at.address}/api/relay/requests${path}`, {
      agent: false,
      headers: { authorization: `Bearer ${who}`, ...headers },
    });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.setEncoding('utf8');
    response.on('error', () => undefined);
    return response;
  }

  interface Follower {
    readonly response: IncomingMessage;
    readonly events: { id: string | undefined; entry: RequestLogEntry }[];
    /** Waits for this many events. */
    until(count: number): Promise<string[]>;
    leave(): void;
  }

  async function follow(who: string, query = '', headers: Record<string, string> = {}): Promise<Follower> {
    const response = await ask(`/stream${query}`, who, headers);
    assert.equal(response.statusCode, 200);
    const events: Follower['events'] = [];
    let text = '';
    response.on('data', (chunk: string) => {
      text += chunk;
      const frames = text.split('\n\n');
      text = frames.pop() ?? '';
      for (const frame of frames) {
        const data = /^data: (.*)$/m.exec(frame)?.[1];
        if (data !== undefined) events.push({ id: /^id: (.*)$/m.exec(frame)?.[1], entry: JSON.parse(data) });
      }
      response.emit('events');
    });
    return {
      response,
      events,
      async until(count) {
        while (events.length < count) await once(response, 'events', { signal: AbortSignal.timeout(30_000) });
        return events.map(({ entry }) => entry.request_id);
      },
      leave: () => response.destroy(),
    };
  }

  it('a tail tells requests as they are recorded, and goes on after a break without loss or repeats', async () => {
    const rows = Array.from({ length: 9 }, () => row('acme'));
    const ids = rows.map(({ request_id }) => request_id);
    const first = await follow('acme');
    assert.equal(first.response.headers['content-type'], 'text/event-stream; charset=utf-8');
    await insertRequests(room.db, rows.slice(1, 3));
    await first.until(2);
    // This request arrived before the two that the tail has sent.
    await insertRequests(room.db, rows.slice(0, 1));
    assert.deepEqual(await first.until(3), [ids[1], ids[2], ids[0]]);
    assert.deepEqual(
      first.events.map(({ id }) => id),
      [ids[1], ids[2], ids[0]],
    );
    first.leave();
    await insertRequests(room.db, rows.slice(3, 5));
    const second = await follow('acme', '', { 'last-event-id': ids[0] ?? '' });
    await insertRequests(room.db, rows.slice(5, 7));
    assert.deepEqual(await second.until(4), ids.slice(3, 7));
    second.leave();
    const third = await follow('acme', `?after=${ids[2]}`);
    await insertRequests(room.db, rows.slice(7));
    assert.deepEqual(await third.until(7), [ids[0], ...ids.slice(3)]);
    third.leave();
  });

  it('a tail is filtered, and of own traffic for whoever may see no more', async () => {
    const mine = row('developer', { wait_ms: 3 });
    const guardrailId = idAt(Date.now(), 7);
    const verdict = {
      guardrail_id: guardrailId,
      stage: 'pre_dispatch',
      verdict: 'flagged',
      latency_ms: 5,
    } as const;
    const trace = { timings: null, candidates: [], guardrails: [verdict] };
    const [theirs, failed] = [row('acme', { fallback_count: 2, trace }), row('acme', { state: 'failed' })];
    const own = await follow('developer');
    const all = await follow('acme');
    const failures = await follow('acme', '?state=failed');
    const waited = await follow('acme', '?waited=true');
    const fellBack = await follow('acme', '?fell_back=true');
    const plain = await follow('acme', '?waited=false&fell_back=false');
    const flagged = await follow('acme', `?guardrail_id=${guardrailId}&guardrail_verdict=flagged`);
    const elsewhere = await follow('globex');
    const foreign = row('globex');
    await insertRequests(room.db, [theirs, failed, mine, foreign]);
    assert.deepEqual(await own.until(1), [mine.request_id]);
    assert.deepEqual(
      (await all.until(3)).toSorted(),
      [theirs, failed, mine].map(({ request_id }) => request_id).toSorted(),
    );
    assert.deepEqual(await failures.until(1), [failed.request_id]);
    assert.deepEqual(await waited.until(1), [mine.request_id]);
    assert.deepEqual(await fellBack.until(1), [theirs.request_id]);
    assert.deepEqual(await flagged.until(1), [theirs.request_id]);
    assert.deepEqual(await plain.until(1), [failed.request_id]);
    assert.deepEqual(await elsewhere.until(1), [foreign.request_id]);
    for (const follower of [own, all, failures, waited, fellBack, flagged, plain, elsewhere]) {
      assert.ok(follower.events.length <= 3);
      follower.leave();
    }
    for (const [who, after] of [
      ['globex', mine.request_id],
      ['developer', theirs.request_id],
      ['acme', 'nonsense'],
      ['acme', idAt(Date.now(), 999_999)],
    ] as const) {
      const refused = await ask(`/stream?after=${after}`, who);
      assert.equal(refused.statusCode, 400);
      assert.match((await refused.toArray()).join(''), /"param":"after"/);
    }
    const old = row('acme', { settled_at: new Date(Date.now() - 2 * 3_600_000) });
    await insertRequests(room.db, [old]);
    assert.equal((await ask('/stream', 'acme', { 'last-event-id': old.request_id })).statusCode, 400);
  });

  it('a request that may be recorded again is told without an id to go on from', async () => {
    const follower = await follow('acme');
    const estimate = row('acme', { state: 'failed', error_code: 'gateway_lost', usage_source: 'estimated' });
    await insertRequests(room.db, [estimate]);
    assert.deepEqual(await follower.until(1), [estimate.request_id]);
    assert.equal(follower.events[0]?.id, undefined);
    follower.leave();
  });

  it('tails and downloads are so many for one caller, 429 beyond, and another when one is closed', async () => {
    const open = await Promise.all(Array.from({ length: 10 }, () => follow('developer')));
    const refused = await ask('/stream', 'developer');
    assert.equal(refused.statusCode, 429);
    assert.match((await refused.toArray()).join(''), /too_many_streams/);
    assert.equal((await ask('.csv', 'developer')).statusCode, 429);
    const another = await follow('acme');
    another.leave();
    open[0]?.leave();
    let status: number | undefined;
    do {
      const again = await ask('/stream', 'developer');
      status = again.statusCode;
      again.destroy();
      await delay(20);
    } while (status === 429);
    assert.equal(status, 200);
    for (const follower of open) follower.leave();
  });

  it('a tail ends in good order when its caller is refused, and when the process drains', async () => {
    const ended = async ({ response }: Follower) => {
      await new Promise<void>((resolve) => response.once('close', () => resolve()));
      return response.complete;
    };
    const revoked = await follow('developer');
    const developer = callers.get('developer');
    callers.delete('developer');
    assert.equal(await ended(revoked), true);
    if (developer !== undefined) callers.set('developer', developer);
    const drained = await follow('acme');
    draining = true;
    assert.equal(await ended(drained), true);
    draining = false;
  });

  it('a file of 50,000 rows is sent whole without being held whole, and no faster than it is read', async (t) => {
    const nowMs = Date.now() - 60_000;
    const rows = Array.from({ length: 50_000 }, (_, number) =>
      row('globex', {
        request_id: idAt(nowMs - Math.floor(number / 3), number),
        model: 'csv',
        settled_at: new Date(0),
      }),
    );
    await insertRequests(room.db, rows);
    steps = 0;
    const response = await ask('.csv?model=csv', 'globex', {}, counting);
    // The client reads nothing until the connection's buffers are full and the export stops.
    for (let before = -1; before !== steps; await delay(300)) before = steps;
    // The export needs 50 statements; the buffers of a local connection hold about 20 of them.
    assert.ok(steps < 40, `${steps} statements were made for a client that has read nothing`);
    const expected = rows
      .map(({ request_id }) => request_id)
      .toSorted()
      .reverse();
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    collectGarbage();
    const baseBytes = process.memoryUsage().heapUsed;
    let heldBytesMax = 0;
    let text = '';
    // The first line is the header.
    let count = -1;
    let sampleAt = 5_000;
    for await (const chunk of response as AsyncIterable<string>) {
      const lines = (text + chunk).split('\r\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        if (count >= 0 && line.slice(0, 36) !== expected[count]) assert.fail(`row ${count} is ${line}`);
        count += 1;
      }
      if (count < sampleAt) continue;
      sampleAt += 10_000;
      collectGarbage();
      heldBytesMax = Math.max(heldBytesMax, process.memoryUsage().heapUsed - baseBytes);
    }
    t.diagnostic(`${Math.round(heldBytesMax / 1024)} KiB held at most`);
    assert.equal(count, expected.length);
    // The file has about 20 MB.
    assert.ok(heldBytesMax < 8 * 1024 * 1024, `${heldBytesMax} bytes were held`);
  });

  it('a file goes on below an id, and is of own traffic for whoever may see no more', async () => {
    const mine = Array.from({ length: 4 }, () => row('developer', { model: '=cmd|x' }));
    await insertRequests(room.db, [...mine, row('acme', { model: '=cmd|x' })]);
    const ids = mine.map(({ request_id }) => request_id);
    const read = async (query: string) => {
      const response = await ask(`.csv?model=${encodeURIComponent('=cmd|x')}${query}`, 'developer');
      assert.equal(response.headers['content-disposition'], 'attachment; filename="requests.csv"');
      const records = (await response.toArray()).join('').trimEnd().split('\r\n').slice(1);
      assert.ok(records.every((record) => record.includes(",'=cmd|x,")));
      return records.map((record) => record.slice(0, 36));
    };
    assert.deepEqual(await read(''), ids.toReversed());
    assert.deepEqual(await read(`&before=${ids[2]}`), [ids[1], ids[0]]);
    assert.equal((await ask('.csv?before=nonsense', 'developer')).statusCode, 400);
  });
});
