import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import {
  createInternalLink,
  type InternalLink,
  type InternalLinkOptions,
  type LinkAnswer,
  type LinkFlow,
  type LinkRequest,
} from './internal-link.ts';

const get: LinkRequest = { method: 'GET', path: '/v1/models?x=1', headers: [], body: null };
const closers: (() => unknown)[] = [];

async function serverThat(answer: RequestListener): Promise<{ origin: string; server: Server }> {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

function linkTo(origin: string, over: Partial<InternalLinkOptions> = {}): InternalLink {
  const link = createInternalLink({
    origin,
    connectTimeoutMs: 1_000,
    requestsMax: 4,
    headTimeoutMs: 5_000,
    idleTimeoutMs: 5_000,
    ...over,
  });
  closers.push(() => link.close());
  return link;
}

/** Keeps what it hears, and tells of its end. */
class Heard implements LinkAnswer {
  status = 0;
  headers: string[] = [];
  chunks: Buffer[] = [];
  bytes = 0;
  flow: LinkFlow | null = null;
  readonly events: string[] = [];
  readonly #waiting = new Map<string, () => void>();

  onHead(status: number, headers: string[], flow: LinkFlow): void {
    Object.assign(this, { status, headers, flow });
    this.#tell('head');
  }
  onData(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.bytes += chunk.length;
    this.#tell('data');
  }
  onEnd(): void {
    this.#tell('end');
  }
  onFailure(): void {
    this.#tell('failure');
  }
  #tell(event: string): void {
    this.events.push(event);
    this.#waiting.get(event)?.();
  }
  async heard(event: string): Promise<void> {
    if (!this.events.includes(event)) await new Promise<void>((resolve) => this.#waiting.set(event, resolve));
  }
}

describe('the internal link', () => {
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  it('passes the head on in its own spelling and the body piece by piece', async () => {
    let finish: () => void = () => undefined;
    const { origin } = await serverThat((request, response) => {
      response.writeHead(201, ['X-Odd-Case', 'a', 'x-odd-case', 'b', 'seen', request.url ?? '']);
      response.write('first');
      finish = () => response.end('last');
    });
    const answer = new Heard();
    linkTo(origin).send(get, answer, 'acme');
    await answer.heard('data');
    assert.equal(answer.status, 201);
    assert.deepEqual(answer.headers.slice(0, 6), [
      'X-Odd-Case',
      'a',
      'x-odd-case',
      'b',
      'seen',
      '/v1/models?x=1',
    ]);
    assert.equal(Buffer.concat(answer.chunks).toString(), 'first');
    finish();
    await answer.heard('end');
    assert.equal(Buffer.concat(answer.chunks).toString(), 'firstlast');
  });

  it('sends body and headers byte for byte', async () => {
    const seen: unknown[] = [];
    const { origin } = await serverThat((request, response) => {
      request.on('data', (chunk: Buffer) => seen.push(chunk.toString('hex')));
      request.on('end', () => response.end());
      seen.push(request.rawHeaders);
    });
    const answer = new Heard();
    const headers = ['X-Mixed', 'caf\u00e9', 'x-mixed', 'again'];
    linkTo(origin).send(
      { method: 'POST', path: '/', headers, body: Buffer.from([0, 255, 10]) },
      answer,
      'acme',
    );
    await answer.heard('end');
    const [raw, body] = seen as [string[], string];
    assert.equal(body, '00ff0a');
    assert.equal(raw[raw.indexOf('X-Mixed') + 1], 'caf\u00e9');
    assert.equal(raw[raw.indexOf('x-mixed') + 1], 'again');
  });

  it('does not take an informational response for the answer', async () => {
    const { origin } = await serverThat((_request, response) => {
      response.writeEarlyHints({ link: '</a>; rel=preload' });
      response.writeHead(200).end('ok');
    });
    const answer = new Heard();
    linkTo(origin).send(get, answer, 'acme');
    await answer.heard('end');
    assert.deepEqual([answer.status, answer.events], [200, ['head', 'data', 'end']]);
  });

  it('keeps its connections', async () => {
    const sockets = new Set<unknown>();
    const { origin } = await serverThat((request, response) => {
      sockets.add(request.socket);
      response.end();
    });
    const link = linkTo(origin);
    for (let count = 0; count < 20; count += 1) {
      const answer = new Heard();
      link.send(get, answer, 'acme');
      await answer.heard('end');
    }
    // The next one may begin just before the last connection is free again.
    assert.ok(sockets.size <= 2, `${sockets.size} connections`);
  });

  it('holds the sender back while it is paused, and loses nothing', async () => {
    const block = Buffer.alloc(256 * 1024, 'x');
    const blocks = 200;
    let blockedAt: (bytes: number) => void = () => undefined;
    const blocked = new Promise<number>((resolve) => {
      blockedAt = resolve;
    });
    const { origin } = await serverThat((_request, response) => {
      let written = 0;
      const fill = () => {
        while (written < blocks) {
          written += 1;
          if (!response.write(block)) {
            const timer = setTimeout(() => blockedAt(written * block.length), 300);
            response.once('drain', () => {
              clearTimeout(timer);
              fill();
            });
            return;
          }
        }
        response.end();
      };
      fill();
    });
    const answer = new Heard();
    linkTo(origin).send(get, answer, 'acme');
    await answer.heard('data');
    answer.flow?.pause();
    const sentBytes = await blocked;
    assert.ok(sentBytes < (blocks * block.length) / 2, `${sentBytes} bytes were taken from the sender`);
    answer.flow?.resume();
    await answer.heard('end');
    assert.equal(answer.bytes, blocks * block.length);
  });

  it('cuts the connection when it is stopped in the middle, paused or not, and is silent from then on', async () => {
    for (const paused of [false, true]) {
      let closed: Promise<unknown> = Promise.resolve();
      const { origin } = await serverThat((_request, response) => {
        closed = once(response, 'close');
        response.write('first');
      });
      const answer = new Heard();
      const stop = linkTo(origin).send(get, answer, 'acme');
      await answer.heard('data');
      if (paused) answer.flow?.pause();
      stop();
      await closed;
      assert.deepEqual(answer.events, ['head', 'data']);
    }
  });

  it('sends nothing that was stopped before it had a connection', async () => {
    let requests = 0;
    const { origin } = await serverThat((_request, response) => {
      requests += 1;
      response.end();
    });
    const link = linkTo(origin);
    const stopped = new Heard();
    link.send(get, stopped, 'acme')();
    const answer = new Heard();
    link.send(get, answer, 'acme');
    await answer.heard('end');
    assert.deepEqual([requests, stopped.events], [1, []]);
  });

  it('tells of a service that is away, and of an answer that was cut, once', async () => {
    const away = new Heard();
    linkTo('http://127.0.0.1:9').send(get, away, 'acme');
    await away.heard('failure');
    assert.deepEqual(away.events, ['failure']);

    const { origin } = await serverThat((request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => request.socket.destroy());
    });
    const cut = new Heard();
    linkTo(origin).send(get, cut, 'acme');
    await cut.heard('failure');
    assert.deepEqual(cut.events, ['head', 'data', 'failure']);
  });

  it('does not send a request again that went out and was not answered', async () => {
    let requests = 0;
    const server = createTcpServer((socket: Socket) => {
      socket.once('data', () => {
        requests += 1;
        socket.destroy();
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closers.push(() => void server.close());
    const link = linkTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const answer = new Heard();
    link.send({ method: 'POST', path: '/', headers: [], body: Buffer.from('x') }, answer, 'acme');
    await answer.heard('failure');
    assert.equal(requests, 1);
  });

  it('refuses requests over its bound immediately, and accepts more when one has ended or was stopped', async () => {
    const open: (() => void)[] = [];
    const { origin } = await serverThat((_request, response) => {
      response.write('open');
      open.push(() => response.end());
    });
    // An owner that is alone has half of them.
    const link = linkTo(origin, { requestsMax: 4 });
    const [first, second, over, third, fourth] = Array.from({ length: 5 }, () => new Heard()) as [
      Heard,
      Heard,
      Heard,
      Heard,
      Heard,
    ];
    link.send(get, first, 'acme');
    const stop = link.send(get, second, 'acme');
    await Promise.all([first.heard('data'), second.heard('data')]);
    link.send(get, over, 'acme');
    assert.deepEqual(over.events, ['failure']);
    const other = new Heard();
    link.send(get, other, 'another owner');
    await other.heard('data');
    open[0]?.();
    open[1]?.();
    await Promise.race([first.heard('end'), second.heard('end')]);
    link.send(get, third, 'acme');
    await third.heard('data');
    stop();
    open[3]?.();
    await third.heard('end');
    link.send(get, fourth, 'acme');
    await fourth.heard('data');
  });

  it('gives the place of a request that was stopped in the middle to the next', async () => {
    const closed: Promise<unknown>[] = [];
    const { origin } = await serverThat((_request, response) => {
      closed.push(once(response, 'close'));
      response.write('open');
    });
    const link = linkTo(origin, { requestsMax: 1 });
    const [first, second] = [new Heard(), new Heard()];
    const stop = link.send(get, first, 'acme');
    await first.heard('data');
    stop();
    await closed[0];
    link.send(get, second, 'acme');
    await second.heard('data');
    assert.deepEqual(second.events.slice(0, 2), ['head', 'data']);
  });

  it('gives up on a service that takes the request and says nothing', async () => {
    const { origin } = await serverThat(() => undefined);
    const answer = new Heard();
    linkTo(origin, { headTimeoutMs: 100 }).send(get, answer, 'acme');
    await answer.heard('failure');
    assert.deepEqual(answer.events, ['failure']);
  });
});
