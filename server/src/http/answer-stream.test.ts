import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { allScopes, type Scope } from '@relay/contract';
import type { Caller } from '../domain/caller.ts';
import { RelayError } from '../domain/relay-error.ts';
import { createLog } from '../kit/log.ts';
import type { Call, Handlers } from './call.ts';
import { type Listener, listen } from './listener.ts';
import { createManagementApp } from './management-app.ts';

const REQUEST_TIMEOUT_MS = 300;
const CHECK_MS = 100;

type Source = (call: Pick<Call<'streamRequests'>, 'ended'>) => AsyncGenerator<string>;

/** What the handlers stream in the test at hand. */
let source: Source;
let scopes = new Set<Scope>(allScopes);
let refused = false;
let draining = false;
const handlers: Handlers = {
  streamRequests: async (call) => ({ chunks: source(call) }),
  exportRequests: async (call) => ({ chunks: source(call) }),
};

let listener: Listener;

function callerWith(held: ReadonlySet<Scope>): Caller {
  return {
    organizationId: 'o',
    userId: 'u',
    keyId: null,
    sessionId: null,
    kind: 'session',
    scopes: held,
    access: { granted: null, permissions: held, plan: 'team' },
    keyPolicies: [],
  };
}

async function open(path: '/stream' | '.csv'): Promise<IncomingMessage> {
  const request = get(`${listener.address}/api/relay/requests${path}`, { agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

function closed(response: IncomingMessage): Promise<void> {
  return new Promise((resolve) => response.once('close', () => resolve()));
}

/** All that comes, and whether it ended as it should. */
async function readAll(response: IncomingMessage): Promise<{ text: string; whole: boolean }> {
  let text = '';
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => (text += chunk));
  response.on('error', () => undefined);
  await closed(response);
  return { text, whole: response.complete };
}

/** Yields, then waits until the stream ends; `stopped` resolves when it did. */
function patient(first: string): { source: Source; stopped: Promise<void> } {
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  return {
    stopped,
    async *source({ ended }) {
      try {
        yield first;
        if (!ended.aborted) await once(ended, 'abort');
      } finally {
        resolve();
      }
    },
  };
}

describe('a streamed answer', () => {
  before(async () => {
    const app = await createManagementApp({
      handlers,
      authenticate: () => {
        if (refused) throw new RelayError('revoked_api_key');
        return callerWith(scopes);
      },
      bodyBytesMax: 1_000,
      publicUrl: 'http://relay.test',
      log: createLog('silent'),
      draining: () => draining,
      streamAccessCheckMs: CHECK_MS,
    });
    listener = await listen(
      { host: '127.0.0.1', port: 0 },
      {
        newRequestId: () => 'minted-id',
        health: () => ({ draining: false, version: '1.0.0', role: 'all', checks: {} }),
        inference: null,
        everythingElse: app,
        publicUrl: 'http://relay.test',
        headersTimeoutMs: REQUEST_TIMEOUT_MS,
        requestTimeoutMs: REQUEST_TIMEOUT_MS,
      },
    );
  });
  after(() => listener.drain(0));
  beforeEach(() => {
    scopes = new Set(allScopes);
    refused = false;
    draining = false;
  });

  it('has the content type of its route and ends when its source does', async () => {
    source = async function* () {
      yield 'a,b\r\n';
      await delay(5);
      yield '1,2\r\n';
    };
    const response = await open('.csv');
    assert.equal(response.statusCode, 200);
    assert.equal(response.headers['content-type'], 'text/csv; charset=utf-8');
    assert.equal(response.headers['x-request-id'], 'minted-id');
    assert.deepEqual(await readAll(response), { text: 'a,b\r\n1,2\r\n', whole: true });
  });

  it('stops its source when the client leaves', async () => {
    const waiting = patient('first');
    source = waiting.source;
    const response = await open('/stream');
    await once(response, 'data');
    response.destroy();
    await waiting.stopped;
  });

  it('is made no faster than it is read', async () => {
    let made = 0;
    const { promise: stopped, resolve } = Promise.withResolvers<void>();
    const chunk = 'x'.repeat(16 * 1024);
    source = async function* () {
      try {
        for (; made < 4_000; made += 1) yield chunk;
      } finally {
        resolve();
      }
    };
    const response = await open('.csv');
    // Until nothing moves any more: the buffers of both ends of the connection are full.
    for (let before = -1; before !== made; ) {
      before = made;
      await delay(200);
    }
    assert.ok(made < 2_000, `${made} chunks were made for a client that read none`);
    response.destroy();
    await stopped;
  });

  it('that fails before its first chunk is an error like any other', async () => {
    source = async function* () {
      yield await Promise.reject<string>(new RelayError('store_unavailable'));
    };
    const response = await open('.csv');
    assert.equal(response.statusCode, 503);
    assert.match((await readAll(response)).text, /store_unavailable/);
  });

  it('that fails later is broken off, so that a part is not taken for the whole', async () => {
    source = async function* () {
      yield 'a,b\r\n';
      await delay(20);
      throw new Error('a defect with a secret in it');
    };
    const { text, whole } = await readAll(await open('.csv'));
    assert.deepEqual({ text, whole }, { text: 'a,b\r\n', whole: false });
  });

  it('outlives the time that a request may take to arrive', async () => {
    source = async function* () {
      for (let second = 0; second < 3; second += 1) {
        yield `${second}\n`;
        await delay(800);
      }
    };
    assert.deepEqual(await readAll(await open('/stream')), { text: '0\n1\n2\n', whole: true });
  });

  it('of events ends in good order when the process drains; a file is finished', async () => {
    const waiting = patient('first\n');
    source = waiting.source;
    const events = await open('/stream');
    source = async function* () {
      yield 'a\r\n';
      await delay(700);
      yield 'b\r\n';
    };
    const file = await open('.csv');
    const both = Promise.all([readAll(events), readAll(file)]);
    draining = true;
    assert.deepEqual(await both, [
      { text: 'first\n', whole: true },
      { text: 'a\r\nb\r\n', whole: true },
    ]);
  });

  it('of events ends when the caller is refused; a file is broken off', async () => {
    const waiting = patient('first\n');
    source = waiting.source;
    const events = readAll(await open('/stream'));
    const another = patient('a\r\n');
    source = another.source;
    const file = readAll(await open('.csv'));
    await delay(3 * CHECK_MS);
    refused = true;
    assert.deepEqual(await events, { text: 'first\n', whole: true });
    assert.deepEqual(await file, { text: 'a\r\n', whole: false });
  });

  it('ends when the caller holds other scopes than at its beginning', async () => {
    const waiting = patient('first\n');
    source = waiting.source;
    const events = readAll(await open('/stream'));
    scopes = new Set<Scope>(['relay:usage:read']);
    await waiting.stopped;
    assert.equal((await events).whole, true);
  });

  it('is cut when its client does not take the end', async () => {
    const chunk = 'x'.repeat(64 * 1024);
    source = async function* () {
      for (;;) yield chunk;
    };
    const response = await open('/stream');
    response.on('error', () => undefined);
    refused = true;
    await delay(50);
    response.resume();
    await closed(response);
    assert.equal(response.complete, false);
  });
});
