import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createConnection } from 'node:net';
import { after, describe, it } from 'node:test';
import { createBodyMemory } from './body-memory.ts';
import { readBody } from './read-body.ts';

const MIB = 1024 * 1024;
const closers: (() => void)[] = [];

/** A server that reads bodies of up to 1 MiB with memory for 4 MiB. */
async function site(waitMsMax = 60_000) {
  const bodyMemory = createBodyMemory({ bytesMax: 4 * MIB, shared: true, waitMsMax });
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return {
    /** A request of which all but the last byte has been sent. */
    async begin(organizationId: string, head = `Content-Length: ${MIB}`, body = 'x'.repeat(MIB - 1)) {
      const socket = createConnection(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${head}\r\n\r\n`);
      const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
      socket.write(body);
      const read = readBody(
        request,
        response,
        { bodyBytesMax: MIB, bodyMemory, bodyPace: null },
        organizationId,
      );
      const outcome = read.then(
        ({ length }) => length,
        (error: { code?: string; name: string }) => error.code ?? error.constructor.name,
      );
      let ended: string | number | null = null;
      void outcome.then((how) => (ended = how));
      return {
        request,
        outcome,
        ended: () => ended,
        finish: () => void socket.write('x'),
        answer: () => response.end('{}'),
        leave: () => socket.destroy(),
      };
    },
  };
}

describe('the memory of large bodies', () => {
  after(() => {
    for (const close of closers) close();
  });

  it('is shared: what one organization does not get, another one does', async () => {
    const { begin } = await site();
    const first = await begin('busy');
    const second = await begin('busy');
    const third = await begin('busy');
    for (const each of [first, second, third]) each.finish();
    assert.deepEqual([await first.outcome, await second.outcome], [MIB, MIB]);
    const other = await begin('acme');
    other.finish();
    assert.equal(await other.outcome, MIB);
    assert.equal(third.ended(), null);
    assert.equal(third.request.readableFlowing, null, 'a body that waits is not read');
    first.answer();
    other.answer();
    assert.equal(await third.outcome, MIB);
  });

  it('is given back when a client leaves, read or waiting', async () => {
    const { begin } = await site();
    const [first, second] = [await begin('busy'), await begin('busy')];
    const third = await begin('busy', `Content-Length: ${MIB}`, '');
    third.leave();
    assert.equal(await third.outcome, 'ClientGoneError');
    const fourth = await begin('busy');
    first.leave();
    assert.equal(await first.outcome, 'ClientGoneError');
    fourth.finish();
    assert.equal(await fourth.outcome, MIB);
    second.leave();
  });

  it('that does not become free in time is refused with queue_full', async () => {
    const { begin } = await site(20);
    await begin('busy');
    await begin('busy');
    const third = await begin('busy');
    assert.equal(await third.outcome, 'queue_full');
  });

  it('is counted for a body without a declared length as it grows', async () => {
    const { begin } = await site(20);
    const chunk = `${MIB.toString(16)}\r\n${'x'.repeat(MIB)}\r\n0\r\n\r\n`;
    const sent = () => begin('busy', 'Transfer-Encoding: chunked', chunk);
    const [first, second, third] = [await sent(), await sent(), await sent()];
    assert.deepEqual([await first.outcome, await second.outcome], [MIB, MIB]);
    assert.equal(await third.outcome, 'queue_full');
  });

  it('is not asked for by small bodies', async () => {
    const { begin } = await site(20);
    await begin('busy');
    await begin('busy');
    const small = await begin('busy', 'Content-Length: 1000', 'x'.repeat(1_000));
    assert.equal(await small.outcome, 1_000);
  });
});
