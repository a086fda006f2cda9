import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { withCors } from './cors.ts';

const ALLOWED = 'https://app.example.com';

describe('a page of another origin', () => {
  let server: Server;
  let served = 0;
  before(async () => {
    const handler = withCors(new Set([ALLOWED]), (_request, response) => {
      served += 1;
      response.end();
    });
    server = createServer((request, response) => handler(request, response, 'id'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => server.close());

  async function ask(method: string, headers: Record<string, string>) {
    const { port } = server.address() as AddressInfo;
    const sent = httpRequest({ host: '127.0.0.1', port, method, headers, agent: false }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    await once(answer.resume(), 'end');
    return { status: answer.statusCode, allowed: answer.headers['access-control-allow-origin'] };
  }

  it('reads answers only where it is listed, exactly', async () => {
    assert.deepEqual(await ask('GET', { origin: ALLOWED }), { status: 200, allowed: ALLOWED });
    for (const origin of [
      'https://evil.example',
      `${ALLOWED}.evil.example`,
      'http://app.example.com',
      'null',
    ])
      assert.deepEqual(await ask('GET', { origin }), { status: 200, allowed: undefined });
    assert.deepEqual(await ask('GET', {}), { status: 200, allowed: undefined });
  });

  it('is told before it sends, without the request being served', async () => {
    const preflight = { origin: ALLOWED, 'access-control-request-method': 'POST' };
    const before = served;
    assert.deepEqual(await ask('OPTIONS', preflight), { status: 204, allowed: ALLOWED });
    assert.equal(served, before);
  });
});
