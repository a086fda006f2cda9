import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request as openRequest } from 'node:http';
import { createConnection, type Socket } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import type { Caller } from '../domain/caller.ts';
import { CHAT, caller, codeOf, openPlaces, post, wholeBody } from './forward.fixture.ts';

const places = openPlaces();
const { inferenceThat, platformBefore } = places;

describe('when a peer disconnects', () => {
  afterEach(() => places.close());

  it('inference that cannot be reached is 503 with Retry-After', async () => {
    const response = await post(await platformBefore('http://127.0.0.1:9'));
    assert.equal(response.status, 503);
    assert.equal(response.headers.get('retry-after'), '1');
    assert.equal(await codeOf(response), 'configuration_unavailable');
  });

  it('a context that inference refuses is 503 and not the client\u2019s 401', async () => {
    const origin = await inferenceThat((_request, response) => {
      response.writeHead(401, { 'x-relay-error-source': 'relay' }).end('{}');
    });
    const response = await post(await platformBefore(origin));
    assert.equal(response.status, 503);
    assert.equal(await codeOf(response), 'configuration_unavailable');
  });

  it('the 401 of a provider stays a 401', async () => {
    const origin = await inferenceThat((_request, response) => {
      response.writeHead(401, { 'x-relay-error-source': 'upstream' }).end('its own words');
    });
    const response = await post(await platformBefore(origin));
    assert.equal(response.status, 401);
    assert.equal(await response.text(), 'its own words');
  });

  it('an answer that breaks off breaks off for the client', async () => {
    const origin = await inferenceThat((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: first\n\n', () => request.socket.destroy());
    });
    const { body } = await post(await platformBefore(origin));
    await assert.rejects(wholeBody(body as unknown as AsyncIterable<Buffer>));
  });

  /** Opens a request whose client reads nothing after the response head. */
  async function stalledClient(url: string): Promise<Socket> {
    const request = openRequest(url + CHAT, { method: 'POST' });
    request.on('error', () => undefined);
    request.end('{}');
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.pause();
    return response.socket;
  }

  it('a client that leaves stops inference, in the middle of a stream or before an answer', async () => {
    let arrived: () => void = () => undefined;
    let closed: Promise<unknown> = Promise.resolve();
    for (const answering of [true, false]) {
      const here = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      const origin = await inferenceThat((_request, response) => {
        closed = once(response, 'close');
        if (answering) response.write('first');
        arrived();
      });
      const url = await platformBefore(origin);
      const leaving = new AbortController();
      const answer = fetch(url + CHAT, { method: 'POST', body: '{}', signal: leaving.signal });
      await here;
      if (answering) await answer;
      leaving.abort();
      await answer.catch(() => undefined);
      await closed;
    }
  });

  it('a client that does not read holds inference back, and stops it by leaving', async () => {
    const block = Buffer.alloc(64 * 1024, 'x');
    let writtenBytes = 0;
    let stalled: () => void = () => undefined;
    const isStalled = new Promise<void>((resolve) => {
      stalled = resolve;
    });
    let closed: Promise<unknown> = Promise.resolve();
    const origin = await inferenceThat((_request, response) => {
      closed = once(response, 'close');
      const fill = () => {
        do writtenBytes += block.length;
        while (response.write(block));
        const timer = setTimeout(stalled, 300);
        response.once('drain', () => {
          clearTimeout(timer);
          fill();
        });
      };
      fill();
    });
    const socket = await stalledClient(await platformBefore(origin));
    await isStalled;
    // Only what the sockets of three processes buffer; it does not grow.
    assert.ok(writtenBytes < 16 * 1024 * 1024, `${writtenBytes} bytes were taken`);
    socket.destroy();
    await closed;
  });

  it('a client that left while its key was looked up is not forwarded', async () => {
    let requests = 0;
    const origin = await inferenceThat((_request, response) => {
      requests += 1;
      response.end();
    });
    let asked: (about: IncomingMessage) => void = () => undefined;
    let found: (known: Caller) => void = () => undefined;
    const firstAsked = new Promise<IncomingMessage>((resolve) => {
      asked = resolve;
    });
    const lookups: (Caller | Promise<Caller>)[] = [new Promise((resolve) => (found = resolve)), caller];
    const url = await platformBefore(origin, {
      authenticate: (request) => {
        asked(request);
        return lookups.shift() ?? caller;
      },
    });
    const socket = createConnection(Number(new URL(url).port), '127.0.0.1');
    socket.write(`POST ${CHAT} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}`);
    const request = await firstAsked;
    socket.destroy();
    await new Promise((resolve) => request.once('close', resolve));
    found(caller);
    assert.equal((await post(url)).status, 200);
    assert.equal(requests, 1);
  });
});
