import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { selfSigned } from '@relay/testbed';
import { endpoint, provider } from '../../domain/snapshot.fixture.ts';
import type { Provider } from '../../domain/snapshot.ts';
import { systemClock as clock } from '../../kit/clock.ts';
import { DeadlineWheel } from '../../kit/deadline-wheel.ts';
import { createEgress, type Egress } from '../../kit/egress/index.ts';
import { protocols } from '../../protocols/index.ts';
import { createUpstreamAuth } from '../../protocols/upstream-auth/create-upstream-auth.ts';
import type { Exchange } from '../exchange.ts';
import { sendUpstream } from './send-upstream.ts';

const SOON_MS = 50;
const LONG_MS = 10_000;
const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}';

interface Settings {
  readonly totalMs?: number;
  readonly authMode?: Provider['authMode'];
}

interface Attempt {
  /** Calls of the listener, in order. */
  readonly events: string[];
  readonly over: Promise<void>;
  stop(): void;
}

describe('an attempt was sent', () => {
  let server: Server;
  let tls: Server;
  let egress: Egress;
  const wheel = new DeadlineWheel(clock);
  const sockets = new Set<Socket>();
  let received = '';
  let onConnection: (socket: Socket) => void;
  let onRequest: (socket: Socket) => void;
  let lookupError: Error | null = null;

  before(async () => {
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('data', (bytes: Buffer) => {
        received += bytes.toString('latin1');
        onRequest(socket);
      });
      onConnection(socket);
    });
    tls = createTlsServer(selfSigned(), (socket) => socket.end(ANSWER));
    for (const each of [server, tls]) {
      each.listen(0, '127.0.0.1');
      await once(each, 'listening');
    }
  });
  beforeEach(() => {
    received = '';
    onConnection = () => undefined;
    onRequest = () => undefined;
    lookupError = null;
    egress = createEgress({
      allowedCidrs: ['127.0.0.0/8'],
      connectTimeoutMs: 500,
      connectionsPerOriginMax: 1,
      originsMax: 10,
      lookup: (_name, _options, callback) =>
        lookupError === null
          ? callback(null, [{ address: '127.0.0.1', family: 4 }])
          : callback(lookupError, '', 0),
    });
  });
  after(async () => {
    await egress.close();
    for (const socket of sockets) socket.destroy();
    server.close();
    tls.close();
  });

  const portOf = (each: Server) => (each.address() as AddressInfo).port;

  function send(origin: string, { totalMs = LONG_MS, authMode = 'none' }: Settings = {}): Attempt {
    const upstream = provider('p', { baseUrl: `${origin}/v1`, authMode });
    const candidate = {
      endpoint: endpoint('e', 'p', 'm', { maxLatencyMs: totalMs }),
      provider: upstream,
      credential: null,
      origin,
      pathPrefix: '/v1',
    };
    const exchange = { request: { headers: {} }, trace: null, caller: { organizationId: 'org' } };
    const deps = {
      egress,
      upstreamAuth: createUpstreamAuth({ clock, egress, random: Math.random }),
      headersTimeoutMs: LONG_MS,
      idleTimeoutMs: LONG_MS,
      deadlines: wheel,
      clock,
    };
    const events: string[] = [];
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const stop = sendUpstream(
      deps,
      exchange as unknown as Exchange,
      { protocol: protocols.chat, body: [Buffer.from('{}')], plain: true, translated: false },
      candidate,
      {
        onSent: () => events.push('sent'),
        onHead: ({ status }) => events.push(String(status)),
        onData: () => undefined,
        onEnd() {
          events.push('end');
          resolve();
        },
        onFailure({ code }) {
          events.push(code);
          resolve();
        },
      },
    );
    return { events, over, stop };
  }

  async function eventsOf(attempt: Attempt): Promise<readonly string[]> {
    await attempt.over;
    return attempt.events;
  }

  it('once its first byte leaves, before the answer', async () => {
    onRequest = (socket) => socket.write(ANSWER);
    const origin = `http://127.0.0.1:${portOf(server)}`;
    assert.deepEqual(await eventsOf(send(origin)), ['sent', '200', 'end']);
    // The second time over the same connection.
    assert.deepEqual(await eventsOf(send(origin)), ['sent', '200', 'end']);
    assert.equal(received.match(/POST /g)?.length, 2);
  });

  it('although the provider closes the connection instead of answering', async () => {
    onRequest = (socket) => socket.destroy();
    const attempt = send(`http://127.0.0.1:${portOf(server)}`);
    assert.deepEqual(await eventsOf(attempt), ['sent', 'upstream_unreachable']);
  });

  it('although it is stopped, or its time is over, before the answer', async () => {
    const origin = `http://127.0.0.1:${portOf(server)}`;
    const stopped = send(origin);
    await new Promise<void>((resolve) => {
      onRequest = () => resolve();
    });
    stopped.stop();
    assert.deepEqual(stopped.events, ['sent']);
    assert.deepEqual(await eventsOf(send(origin, { totalMs: SOON_MS })), ['sent', 'upstream_timeout']);
  });

  it('only if there was a connection', async () => {
    const closed = createServer();
    closed.listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const port = portOf(closed);
    closed.close();
    await once(closed, 'close');
    assert.deepEqual(await eventsOf(send(`http://127.0.0.1:${port}`)), ['upstream_unreachable']);
    assert.deepEqual(await eventsOf(send('http://10.0.0.1:1')), ['upstream_not_prepared']);
  });

  it('only if the name was found', async () => {
    lookupError = Object.assign(new Error('not found'), { code: 'ENOTFOUND' });
    assert.deepEqual(await eventsOf(send('http://nowhere.test')), ['upstream_unreachable']);
  });

  it('only if TLS succeeds', async () => {
    assert.deepEqual(await eventsOf(send(`https://127.0.0.1:${portOf(tls)}`)), ['upstream_unreachable']);
    onRequest = (socket) => socket.end('no TLS');
    assert.deepEqual(await eventsOf(send(`https://127.0.0.1:${portOf(server)}`)), ['upstream_unreachable']);
  });

  it('only if it could be authenticated', async () => {
    const attempt = send(`http://127.0.0.1:${portOf(server)}`, { authMode: 'bearer_static' });
    assert.deepEqual(await eventsOf(attempt), ['upstream_not_prepared']);
  });

  it('not when connecting takes too long', async () => {
    // The server does not answer the TLS handshake.
    const origin = `https://127.0.0.1:${portOf(server)}`;
    assert.deepEqual(await eventsOf(send(origin)), ['upstream_timeout']);
    assert.deepEqual(await eventsOf(send(origin, { totalMs: SOON_MS })), ['upstream_timeout']);
  });

  it('not when it is stopped while it connects, also if the connection comes', async () => {
    const port = portOf(server);
    const connected = new Promise<Socket>((resolve) => {
      onConnection = resolve;
    });
    const attempt = send(`http://127.0.0.1:${port}`);
    attempt.stop();
    const socket = await connected;
    await once(socket, 'close');
    assert.deepEqual(attempt.events, []);
    assert.equal(received, '');
  });

  it('not while it waits for a connection that another one has', async () => {
    const origin = `http://127.0.0.1:${portOf(server)}`;
    const first = send(origin);
    await new Promise<void>((resolve) => {
      onRequest = () => resolve();
    });
    const second = send(origin, { totalMs: SOON_MS });
    assert.deepEqual(await eventsOf(second), ['upstream_timeout']);
    assert.deepEqual(first.events, ['sent']);
    first.stop();
  });
});
