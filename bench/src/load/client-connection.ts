import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { ResponseReader } from './response-reader.ts';

export interface ClientConnection {
  /** One request at a time: the next may be sent from within `onResponse`. */
  send(request: Buffer): void;
  /** Reads the frames of the current response. */
  readonly reader: ResponseReader;
  close(): void;
}

export interface ClientEvents {
  /** A status other than 200 is a response too, and no failure. */
  readonly anyStatus?: boolean;
  onResponse(connection: ClientConnection): void;
  onFailure(error: Error): void;
}

/** A keep-alive connection on a bare socket: a real HTTP client would cost more than some gateways. */
export async function openConnection(port: number, events: ClientEvents): Promise<ClientConnection> {
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  const reader = new ResponseReader();
  let closed = false;
  const connection: ClientConnection = {
    reader,
    send: (request) => void socket.write(request),
    close() {
      closed = true;
      socket.destroy();
    },
  };
  socket.on('data', (chunk: Buffer) => {
    if (closed) return;
    try {
      if (!reader.push(chunk)) return;
    } catch (error) {
      events.onFailure(error as Error);
      return;
    }
    if (reader.status === 200 || events.anyStatus === true) events.onResponse(connection);
    else events.onFailure(new Error(`status ${reader.status}: ${chunk.toString('utf8').slice(0, 2_000)}`));
  });
  socket.on('error', (error) => {
    if (!closed) events.onFailure(error);
  });
  socket.on('close', () => {
    if (!closed) events.onFailure(new Error('the gateway closed the connection'));
  });
  return connection;
}

/** The bytes of a request, made once and sent many times. */
export function requestBytes(
  port: number,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  path = '/v1/chat/completions',
): Buffer {
  const lines = Object.entries({
    host: `127.0.0.1:${port}`,
    'user-agent': 'relay-bench',
    accept: 'application/json',
    'content-type': 'application/json',
    'content-length': String(body.length),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`), body]);
}
