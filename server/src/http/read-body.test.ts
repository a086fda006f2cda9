import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import { type AddressInfo, createConnection } from 'node:net';
import { describe, it } from 'node:test';
import { createBodyMemory } from './body-memory.ts';
import { ClientGoneError } from './client-gone-error.ts';
import { readBody } from './read-body.ts';

const within = (bodyBytesMax: number) => ({
  bodyBytesMax,
  bodyMemory: createBodyMemory({ bytesMax: 10_000_000, shared: true }),
  bodyPace: null,
});

describe('reading a body', () => {
  it('does not wait for a client that left before it began', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = createConnection((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}');
    const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
    socket.destroy();
    await new Promise((resolve) => request.once('close', resolve));
    await assert.rejects(readBody(request, response, within(10), 'acme'), ClientGoneError);
    server.close();
  });

  /** What becomes of a body that a client sends, declared or in chunks, where ten bytes are the maximum. */
  async function outcomeOf(head: string, body: string): Promise<string | number> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = createConnection((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${head}\r\n\r\n${body}`);
    const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
    const outcome = await readBody(request, response, within(10), 'acme').then(
      (read) => read.length,
      (error: { code?: string }) => `${error.code}${request.readableFlowing === null ? ', unread' : ''}`,
    );
    socket.destroy();
    server.close();
    return outcome;
  }

  it('reads up to the bound, and refuses one byte more, with or without a declared length', async () => {
    assert.equal(await outcomeOf('Content-Length: 10', '0123456789'), 10);
    assert.equal(await outcomeOf('Transfer-Encoding: chunked', 'a\r\n0123456789\r\n0\r\n\r\n'), 10);
    assert.equal(
      await outcomeOf('Transfer-Encoding: chunked', 'b\r\n0123456789x\r\n0\r\n\r\n'),
      'body_too_large',
    );
  });

  it('reads a large body as it was sent, with or without a declared length', {
    timeout: 60_000,
  }, async () => {
    const sent = randomBytes(3_000_001);
    for (const headers of [{ 'content-length': sent.length }, { 'transfer-encoding': 'chunked' }]) {
      const server = createServer();
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const client = send({ port, host: '127.0.0.1', method: 'POST', headers });
      client.on('error', () => undefined);
      client.end(sent);
      const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
      assert.ok((await readBody(request, response, within(4_000_000), 'acme')).equals(sent));
      client.destroy();
      server.close();
    }
  });

  it('pauses a large body as its organization’s pace says, and a small one never', {
    timeout: 60_000,
  }, async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const asked: { organizationId: string; bytes: number }[] = [];
    const bodyPace = {
      pauseMs(organizationId: string, bytes: number) {
        asked.push({ organizationId, bytes });
        return 5;
      },
    };
    for (const size of [60_000, 1_000_000]) {
      const sent = randomBytes(size);
      const client = send({ port, host: '127.0.0.1', method: 'POST' });
      client.on('error', () => undefined);
      client.end(sent);
      const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
      const startMs = performance.now();
      const read = await readBody(request, response, { ...within(4_000_000), bodyPace }, 'acme');
      const tookMs = performance.now() - startMs;
      assert.ok(read.equals(sent));
      assert.ok(tookMs >= asked.length * 4, `${tookMs} ms for ${asked.length} pauses`);
      if (size === 60_000) assert.equal(asked.length, 0);
      client.destroy();
    }
    assert.ok(asked.length > 0 && asked.every(({ organizationId }) => organizationId === 'acme'));
    server.close();
  });

  it('refuses a body that is declared too large without reading any of it', { timeout: 30_000 }, async () => {
    assert.equal(await outcomeOf('Content-Length: 11', ''), 'body_too_large, unread');
  });
});
