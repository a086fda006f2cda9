import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../kit/clock.ts';
import { createEgress } from '../../kit/egress/index.ts';
import { withProbe } from './probe.ts';

describe('a probe', () => {
  let server: Server;
  let origin: string;
  let open = 0;

  before(async () => {
    server = createServer((request, response) => {
      if (request.url === '/silent') return;
      response.writeHead(200);
      if (request.url === '/endless') {
        const write = () => {
          while (response.write(Buffer.alloc(4096)));
          response.once('drain', write);
        };
        write();
      } else response.write('a beginning');
    });
    server.on('connection', (socket) => {
      open += 1;
      socket.on('close', () => {
        open -= 1;
        server.emit('one closed');
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });

  const probe = (path: string, timeoutMs: number) =>
    withProbe(
      {
        openEgress: () =>
          createEgress({
            allowedCidrs: ['127.0.0.0/8'],
            connectTimeoutMs: 1_000,
            connectionsPerOriginMax: 1,
            originsMax: 1,
          }),
        clock: systemClock,
        timeoutMs,
        responseBytesMax: 10_000,
      },
      (send) => send(origin, { method: 'GET', path, headers: [], body: null }),
    );

  for (const path of ['/silent', '/unfinished']) {
    it(`of ${path.slice(1)} upstream ends at its deadline and leaves no connection`, async () => {
      const result = await probe(path, 500);
      assert.ok(result.kind === 'failed');
      assert.equal(result.reason, 'timed_out');
      assert.notEqual(result.connectMs, null);
      assert.ok(result.waitedMs >= 490 && result.waitedMs < 5_000, `${result.waitedMs} ms`);
      if (open > 0) await once(server, 'one closed');
      assert.equal(open, 0);
    });
  }

  it('of an endless answer reads no more than it may and leaves no connection', async () => {
    const result = await probe('/endless', 5_000);
    assert.ok(result.kind === 'answered');
    assert.equal(result.complete, false);
    assert.ok(result.body.length <= 10_000);
    if (open > 0) await once(server, 'one closed');
    assert.equal(open, 0);
  });
});
