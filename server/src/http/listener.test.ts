import assert from 'node:assert/strict';
import { createConnection } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { endUnread } from './end-unread.ts';
import { type Listener, listen } from './listener.ts';

let listener: Listener;
let inferenceUrls: (string | undefined)[] = [];

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
after(() => listener.drain(0));

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

describe('the listener', () => {
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
