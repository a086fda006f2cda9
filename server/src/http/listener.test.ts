import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createConnection } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { endUnread } from './end-unread.ts';
import { type Listener, listen } from './listener.ts';

let listener: Listener;
let inferenceUrls: (string | undefined)[] = [];

/** Everything that comes back until the connection is closed. */
async function send(text: string | Buffer): Promise<string> {
  const socket = createConnection(Number(new URL(listener.address).port), '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => undefined);
  socket.write(text);
  await new Promise((resolve) => socket.on('close', resolve));
  return Buffer.concat(chunks).toString();
}

const slowOnes: Listener[] = [];

/** Answers nothing until `answerAll`. */
async function listenSlowly() {
  const open: ServerResponse[] = [];
  const slow = await listen(
    { host: '127.0.0.1', port: 0 },
    {
      newRequestId: () => 'the-id',
      publicUrl: 'http://relay.example',
      health: () => ({ draining: false, version: '1.0.0', role: 'all', checks: {} }),
      inference: null,
      everythingElse: (_request, response) => void open.push(response),
      headersTimeoutMs: 10_000,
      requestTimeoutMs: 10_000,
    },
  );
  slowOnes.push(slow);
  return {
    ...slow,
    async came(count: number): Promise<void> {
      while (open.length < count) await new Promise((resolve) => setImmediate(resolve));
    },
    answerAll(text: string): void {
      for (const response of open) response.end(text);
    },
  };
}

describe('the listener', () => {
  before(async () => {
    listener = await listen(
      { host: '127.0.0.1', port: 0 },
      {
        newRequestId: () => 'the-id',
        publicUrl: 'http://relay.example',
        health: () => ({ draining: false, version: '1.0.0', role: 'all', checks: {} }),
        inference: (request, response) => {
          inferenceUrls.push(request.url);
          const body = 'no';
          response.writeHead(401, { 'content-length': '2', connection: 'close' });
          endUnread(request, response, body);
        },
        everythingElse: (request, response) => {
          request.resume();
          request.on('end', () => response.end('else'));
        },
        headersTimeoutMs: 1_000,
        requestTimeoutMs: 2_000,
      },
    );
  });
  after(() => Promise.all([listener, ...slowOnes].map((each) => each.drain(0))));

  it('takes a whole address in the request line for its path', async () => {
    inferenceUrls = [];
    await send(
      'GET http://elsewhere.example:81/v1/models?x=1 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
    );
    assert.deepEqual(inferenceUrls, ['/v1/models?x=1']);
    const answer = await send(
      'GET http://elsewhere.example HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
    );
    assert.match(answer, /else/);
  });

  it('leaves out one slash at the end of a path, and no second one', async () => {
    inferenceUrls = [];
    for (const path of ['/v1/models/', '/v1/models/?x=/', '/v1/models//', '/v1/'])
      await send(`GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
    assert.deepEqual(inferenceUrls, ['/v1/models', '/v1/models?x=/', '/v1/models//', '/v1/']);
  });

  it('does not ask for a body that inference has not asked for', async () => {
    const head = 'host: a\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\n';
    assert.match(await send(`POST /v1/x HTTP/1.1\r\n${head}`), /^HTTP\/1.1 401/);
    assert.match(
      await send(`POST /x HTTP/1.1\r\nconnection: close\r\n${head}{}`),
      /^HTTP\/1.1 100 [\s\S]*else/,
    );
  });

  it('lets a client that is still sending read its answer', async () => {
    const large = Buffer.alloc(24 * 1024 * 1024);
    const head = `POST /v1/x HTTP/1.1\r\nhost: a\r\ncontent-length: ${large.length}\r\n\r\n`;
    assert.match(await send(Buffer.concat([Buffer.from(head), large])), /^HTTP\/1.1 401 [\s\S]*no$/);
  });

  it('asks clients to close their connections while it leaves, also those that came before', async () => {
    const leaving = await listenSlowly();
    const early = fetch(leaving.address);
    await leaving.came(1);
    const probe = await fetch(`${leaving.address}/readyz`);
    assert.deepEqual([probe.status, probe.headers.get('connection')], [200, 'keep-alive']);
    leaving.startLeaving();
    const late = fetch(leaving.address);
    await leaving.came(2);
    leaving.answerAll('here');
    for (const answer of [await early, await late]) {
      assert.equal(answer.headers.get('connection'), 'close');
      assert.equal(await answer.text(), 'here');
    }
  });

  it('answers what had reached it when it began to stop, on a kept connection as on a new one', async () => {
    const leaving = await listenSlowly();
    const connect = () => createConnection(Number(new URL(leaving.address).port), '127.0.0.1');
    const [kept, fresh] = [connect(), connect()];
    kept.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await leaving.came(1);
    leaving.answerAll('first');
    await once(kept, 'data');
    if (fresh.connecting) await once(fresh, 'connect');
    for (const socket of [kept, fresh]) socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    const stopped = leaving.drain(5_000);
    const answers = [kept, fresh].map(async (socket) => String((await once(socket, 'data'))[0]));
    await leaving.came(3);
    leaving.answerAll('last');
    for (const answer of await Promise.all(answers)) assert.match(answer, /connection: close[\s\S]*last$/i);
    assert.deepEqual(await stopped, { cut: 0 });
  });

  it('tells what is open at the deadline, and lets its last words reach the clients', async () => {
    const leaving = await listenSlowly();
    const open = fetch(leaving.address);
    await leaving.came(1);
    assert.deepEqual(await leaving.drain(10, () => leaving.answerAll('stopped')), { cut: 1 });
    assert.equal(await (await open).text(), 'stopped');
    await assert.rejects(fetch(leaving.address));
  });

  it('waits for no client that says nothing', async () => {
    const leaving = await listenSlowly();
    const socket = createConnection(Number(new URL(leaving.address).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write('GET / HTTP/1.1\r\n');
    const closed = once(socket, 'close');
    socket.resume();
    await leaving.drain(0);
    await closed;
  });

  const unreadable: [string, string, number][] = [
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    ['too many headers', `GET / HTTP/1.1\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['an unknown expectation', 'GET / HTTP/1.1\r\nhost: a\r\nexpect: more\r\n\r\n', 417],
    ['headers that do not end', 'GET / HTTP/1.1\r\nhost: a\r\n', 408],
  ];
  for (const [what, text, status] of unreadable) {
    it(`answers ${what} with ${status} in the shape of every error`, async () => {
      const answer = await send(text);
      assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `));
      assert.match(answer, /x-request-id: the-id/);
      const { error } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as {
        error: { request_id: string };
      };
      assert.equal(error.request_id, 'the-id');
    });
  }
});
