import { request } from 'node:http';
import type { Socket } from 'node:net';

const BLOCK = Buffer.alloc(64 * 1024, 'a');

/** Sends up to that many bytes as chunks, as fast as they are taken, until the connection is gone. */
export function pumpChunked(socket: Socket, bytes: number): void {
  const framed = Buffer.concat([Buffer.from(`${BLOCK.length.toString(16)}\r\n`), BLOCK, Buffer.from('\r\n')]);
  pump(socket, framed, Math.ceil(bytes / BLOCK.length));
}

/** Sends plain body bytes as fast as they are taken. */
export function pumpPlain(socket: Socket, bytes: number): void {
  pump(socket, BLOCK, Math.ceil(bytes / BLOCK.length));
}

function pump(socket: Socket, block: Buffer, times: number): void {
  let left = times;
  function more(): void {
    while (left > 0 && !socket.destroyed && socket.writable) {
      left -= 1;
      if (!socket.write(block)) return;
    }
  }
  socket.on('drain', more);
  more();
}

/** A body that nests that deep, in arrays, objects or both by turns. */
export function nested(depth: number, kind: 'arrays' | 'objects' | 'both', field: string): string {
  const pairs = { arrays: ['[', ']'], objects: ['{"a":', '}'], both: ['[{"a":', '}]'] } as const;
  const [open, close] = pairs[kind];
  return `{"model":"bounds-lane","${field}":${open.repeat(depth)}1${close.repeat(depth)}}`;
}

/** Through Node's own client, which sends on while the answer comes; answers the status. */
export function sendThroughHttp(url: string, token: string, bytes: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-length': bytes };
    const sending = request(url, { method: 'POST', agent: false, headers });
    sending.on('response', (response) => {
      response.resume();
      response.on('end', () => {
        resolve(response.statusCode ?? 0);
        sending.destroy();
      });
    });
    sending.on('error', reject);
    sending.end(Buffer.alloc(bytes, ' '));
  });
}

/** A byte now and then, until the connection is gone. */
export function drip(socket: Socket, everyMs: number): void {
  const timer = setInterval(() => {
    if (socket.writable) socket.write(' ');
    else clearInterval(timer);
  }, everyMs);
  socket.on('close', () => clearInterval(timer));
}
