import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { BodyWriter, endWith } from './body-writer.ts';

// Around the sizes at which a chunk is sent in another way, and around those of its length in hexadecimal digits.
const SIZES = [1, 0, 15, 16, 17, 255, 256, 4_095, 4_096, 4_097, 70_000, 0, 3];
const parts = SIZES.map((size) => randomBytes(size));

describe('the body of a response', () => {
  let server: Server;
  let listener: RequestListener;

  before(async () => {
    server = createServer((request, response) => listener(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  after(() => server.close());

  /** Every byte that the server sends to one request. */
  async function received(version: string, answer: RequestListener): Promise<string> {
    listener = answer;
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.write(`GET / HTTP/${version}\r\nhost: relay\r\nconnection: close\r\n\r\n`);
    await new Promise((resolve) => socket.on('close', resolve));
    return Buffer.concat(chunks).toString('latin1');
  }

  for (const version of ['1.1', '1.0']) {
    for (const head of [
      ['date', 'now', 'openai-version', 'caf\u00e9 \u00ff'],
      ['date', 'now', 'content-length', String(Buffer.concat(parts).length)],
    ]) {
      it(`is sent as Node would, to HTTP/${version} ${head.includes('content-length') ? 'with' : 'without'} a length`, async () => {
        const byNode = await received(version, (_request, response) => {
          response.writeHead(200, head);
          for (const part of parts) response.write(part);
          response.end();
        });
        assert.ok(byNode.length > 70_000);
        for (const isHeadFirst of [false, true]) {
          const written = await received(version, (_request, response) => {
            response.writeHead(200, head);
            const writer = new BodyWriter(response);
            if (isHeadFirst) writer.flushHead();
            for (const part of parts) writer.write(part);
            writer.end();
          });
          assert.equal(written, byNode);
        }
      });
    }
  }

  it('is sent byte for byte when it is complete, small or large', async () => {
    for (const body of parts) {
      const sent = await received('1.1', (_request, response) => {
        response.writeHead(200, ['content-length', String(body.length)]);
        endWith(response, body);
      });
      assert.ok(sent.endsWith(`\r\n\r\n${body.toString('latin1')}`), `${body.length} bytes`);
    }
  });
});
