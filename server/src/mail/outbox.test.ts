import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Letter } from './letter.ts';
import { createOutbox } from './outbox.ts';
import { createSmtpTransport, SENDING_MAX } from './smtp-transport.ts';

const letter: Letter = {
  kind: 'invitation',
  to: 'ada@example.com',
  subject: 'Hello',
  text: 'https://relay.example.com/#token=secret',
  html: '<p>Hello</p>',
};

describe('the outbox, while a mail server accepts connections and says nothing', () => {
  let server: Server;
  const sockets = new Set<Socket>();
  before(async () => {
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => server.close());

  it('keeps a thousand messages, sends a few concurrently, and drops the rest when it stops', async () => {
    const address = server.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const transport = createSmtpTransport(
      { host: '127.0.0.1', port, tls: 'optional', login: null },
      { name: 'Relay', address: 'relay@example.com' },
    );
    const lines: string[] = [];
    const note = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`);
    const outbox = createOutbox({ transport, log: { info: note, warn: note } });
    const connected = once(server, 'connection');
    const accepted = Array.from({ length: 1_003 }, () => outbox.put(letter)).filter(Boolean);
    assert.equal(accepted.length, 1_000);
    assert.equal(lines.filter((line) => line.startsWith('mail dropped: the queue is full')).length, 3);
    await connected;
    const begun = performance.now();
    await outbox.stop(300);
    await transport.close();
    assert.ok(performance.now() - begun < 2_000);
    assert.ok(sockets.size >= 1 && sockets.size <= SENDING_MAX, `${sockets.size} connections`);
    assert.ok(
      lines.some((line) => line === 'mail dropped: the process is stopping {"lost":1000}'),
      lines.at(-1),
    );
    assert.equal(outbox.put(letter), false);
    assert.ok(!/secret|ada@/.test(lines.join('\n')));
  });
});

describe('the outbox', () => {
  const silent = { info: () => undefined, warn: () => undefined };
  const failure = (isFinal: boolean) => ({ code: 'refused', reply: 550, isFinal, reason: 'no such person' });

  it('sends a letter that was refused for good once, and one that was not again when it stops', async () => {
    for (const isFinal of [true, false]) {
      let sent = 0;
      const transport = {
        async send() {
          sent += 1;
          return failure(isFinal);
        },
      };
      const outbox = createOutbox({ transport, log: silent });
      outbox.put(letter);
      await new Promise((resolve) => setImmediate(resolve));
      await outbox.stop(5_000);
      assert.equal(sent, isFinal ? 1 : 2);
    }
  });

  it('waits at its end for the letters that are being sent', async () => {
    const delivered = Promise.withResolvers<null>();
    const outbox = createOutbox({ transport: { send: () => delivered.promise }, log: silent });
    outbox.put(letter);
    let isStopped = false;
    const stopping = outbox.stop(60_000).then(() => {
      isStopped = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isStopped, false);
    delivered.resolve(null);
    await stopping;
  });
});
