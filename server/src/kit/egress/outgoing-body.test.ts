import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { createEgress } from './index.ts';
import { outgoing } from './outgoing-body.ts';

const MIB = 1024 * 1024;

/** What a server gets of a body that egress sends, with its answer. */
async function sent(body: Buffer | readonly Buffer[], earlyStatus: number | null = null) {
  const got: { headers: IncomingHttpHeaders; body: Buffer }[] = [];
  const server = createServer((request, response) => {
    if (earlyStatus !== null) {
      response.writeHead(earlyStatus, { connection: 'close' }).end('early');
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      got.push({ headers: request.headers, body: Buffer.concat(chunks) });
      response.end('whole');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const egress = createEgress({
    allowedCidrs: ['127.0.0.0/8'],
    connectTimeoutMs: 2_000,
    connectionsPerOriginMax: 1,
    originsMax: 1,
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const dispatch = (of: Buffer | readonly Buffer[]) =>
    new Promise<number | string>((resolve) => {
      let answered = 0;
      const handler = {
        onRequestStart: () => undefined,
        onResponseStart(_controller: unknown, status: number) {
          answered = status;
        },
        onResponseData: () => undefined,
        onResponseEnd: () => resolve(answered),
        onResponseError: (_controller: unknown, error: Error) => resolve(error.message),
      };
      egress.dispatch(origin, { method: 'POST', path: '/', headers: ['a', 'b'], body: of }, handler, 'acme');
    });
  const outcome = await dispatch(body);
  // The connection serves a further request.
  if (earlyStatus === null) assert.equal(await dispatch(Buffer.from('{}')), 200);
  await egress.close();
  server.closeAllConnections();
  server.close();
  return { outcome, got };
}

describe('a body on its way out', () => {
  for (const sizes of [[3, 1, 5], [0, MIB, 7, 3 * MIB + 1], [MIB], [512 * 1024 - 1, 1]])
    it(`arrives as its parts follow each other, with its length: ${sizes.join(' + ')} bytes`, async () => {
      const parts = sizes.map((size) => randomBytes(size));
      const whole = Buffer.concat(parts);
      for (const body of [parts, whole]) {
        const { outcome, got } = await sent(body);
        assert.equal(outcome, 200);
        const [first, second] = got;
        assert.ok(first !== undefined);
        assert.ok(first.body.equals(whole));
        assert.equal(first.headers['content-length'], String(whole.length));
        assert.equal(first.headers['transfer-encoding'], undefined);
        assert.equal(second?.body.toString(), '{}');
      }
    });

  it('is not joined when it is large', () => {
    const request = { headers: [], body: [Buffer.alloc(MIB), Buffer.alloc(1)] };
    assert.equal(Buffer.isBuffer(outgoing(request).body), false);
  });

  it('does not keep an early answer from the client', async () => {
    const { outcome } = await sent([randomBytes(8 * MIB)], 413);
    assert.equal(outcome, 413);
  });
});
