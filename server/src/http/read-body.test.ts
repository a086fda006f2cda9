import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createConnection } from 'node:net';
import { describe, it } from 'node:test';
import { ClientGoneError, readBody } from './read-body.ts';

describe('reading a body', () => {
  it('does not wait for a client that left before it began', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = createConnection((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}');
    const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
    socket.destroy();
    await new Promise((resolve) => request.once('close', resolve));
    await assert.rejects(readBody(request, response, 10), ClientGoneError);
    server.close();
  });
});
