import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { createLog } from '../kit/log.ts';
import { createMetrics } from '../kit/metrics.ts';
import { Secret } from '../kit/secret.ts';
import { createMetricsPage } from './metrics-page.ts';

const TOKEN = 'm'.padEnd(40, 'etrics-4821');

describe('the page of metrics', () => {
  let server: Server | null = null;
  afterEach(() => {
    server?.close();
    server?.closeAllConnections();
  });

  /** Peers are on this machine unless another address is pretended. */
  async function serve(token: string | null, peer?: string): Promise<string> {
    const metrics = createMetrics({ processMetrics: false });
    metrics.register('held', { kind: 'gauge', help: 'Held.' }, () => 7);
    const page = createMetricsPage(
      {
        metrics,
        token: token === null ? null : new Secret(token),
        publicUrl: 'http://relay.example',
        log: createLog('silent'),
      },
      (_request, response) => response.writeHead(404).end('else'),
    );
    server = createServer((request, response) => {
      if (peer !== undefined) Object.defineProperty(request.socket, 'remoteAddress', { value: peer });
      page(request, response, 'the-id');
    });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async function codeOf(answer: Response): Promise<unknown> {
    return ((await answer.json()) as { error: { code: string } }).error.code;
  }

  it('without a token is for this machine', async () => {
    const url = await serve(null);
    const answer = await fetch(`${url}/metrics?x=1`);
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    assert.match(await answer.text(), /^held 7$/m);
  });

  for (const peer of ['10.0.0.4', '192.168.1.9', '::ffff:10.0.0.4', 'fd00::1', '1270.0.0.1', '']) {
    it(`without a token is not there for ${peer === '' ? 'a peer that is gone' : peer}`, async () => {
      const answer = await fetch(`${await serve(null, peer)}/metrics`);
      assert.equal(answer.status, 404);
      assert.equal(await codeOf(answer), 'route_not_found');
    });
  }

  for (const peer of ['127.0.0.1', '127.3.2.1', '::1', '::ffff:127.0.0.1'])
    it(`without a token is there for ${peer}`, async () => {
      assert.equal((await fetch(`${await serve(null, peer)}/metrics`)).status, 200);
    });

  for (const name of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip'])
    it(`without a token does not exist for clients behind a proxy that sends ${name}`, async () => {
      const answer = await fetch(`${await serve(null)}/metrics`, { headers: { [name]: '127.0.0.1' } });
      assert.equal(answer.status, 404);
    });

  it('with a token is for every client that has it, on any machine', async () => {
    const url = await serve(TOKEN, '203.0.113.9');
    for (const authorization of [`Bearer ${TOKEN}`, `bearer ${TOKEN}`])
      assert.equal((await fetch(`${url}/metrics`, { headers: { authorization } })).status, 200);
  });

  it('with a token refuses everybody else, on this machine as well', async () => {
    const url = await serve(TOKEN);
    for (const authorization of [
      '',
      TOKEN,
      `Bearer ${TOKEN}x`,
      `Bearer ${TOKEN.slice(1)}`,
      'Bearer',
      'Basic x',
    ]) {
      const answer = await fetch(`${url}/metrics`, { headers: { authorization } });
      assert.equal(answer.status, 401, authorization);
      const wrong = authorization.startsWith('Bearer ');
      assert.equal(await codeOf(answer), wrong ? 'invalid_api_key' : 'missing_api_key');
    }
  });

  it('leaves other paths and methods to others', async () => {
    const url = await serve(null);
    for (const [path, method] of [
      ['/metricsx', 'GET'],
      ['/metrics/', 'GET'],
      ['/metrics', 'POST'],
    ] as const)
      assert.equal(await (await fetch(`${url}${path}`, { method })).text(), 'else');
  });
});
