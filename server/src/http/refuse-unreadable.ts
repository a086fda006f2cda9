import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { RelayError } from '../domain/relay-error.ts';
import { errorResponse } from './error-response.ts';
import { ServerResponse } from './node-http.ts';

const LINGER_MS = 1_000;

interface Refusal {
  readonly status: string;
  readonly error: RelayError;
}

export interface RefusalOptions {
  readonly newRequestId: () => string;
  readonly publicUrl: string;
}

/**
 * Answers what the HTTP parser rejected (400, 408, 413, 431) in the shape of every other error, directly on the socket,
 * because there is no request object. A socket that is already sending a response is closed.
 */
export function createUnreadableRefusal(
  options: RefusalOptions,
): (error: NodeJS.ErrnoException, socket: Socket) => void {
  const refused = new WeakSet<Socket>();
  return (error, socket) => {
    // Everything else that this client sends is unreadable as well.
    if (refused.has(socket)) return;
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) {
      socket.destroy();
      return;
    }
    refused.add(socket);
    endWith(socket, refusalFor(error.code), options);
  };
}

/** CONNECT is for proxies. Node passes its bare socket, and drops the connection unless it is answered here. */
export function refuseTunnel(socket: Duplex, options: RefusalOptions): void {
  const error = new RelayError('method_not_allowed', {
    message: 'Relay is not a forward proxy and opens no tunnels. Send the request directly.',
    headers: { allow: 'GET, HEAD, POST, PUT, PATCH, DELETE' },
  });
  socket.on('error', () => socket.destroy());
  endWith(socket, { status: '405 Method Not Allowed', error }, options);
}

function endWith(socket: Duplex, { status, error }: Refusal, options: RefusalOptions): void {
  const requestId = options.newRequestId();
  const { headers, body } = errorResponse(error, { requestId, publicUrl: options.publicUrl });
  const fields = { ...headers, 'content-length': String(Buffer.byteLength(body)), connection: 'close' };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${body}`);
  // Closing immediately would reset a client that is still sending, and it would lose the answer.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/** Node keeps the response that a socket is sending in a member of its own. */
function isAnswering(socket: Socket): boolean {
  const sending: unknown = '_httpMessage' in socket ? socket._httpMessage : null;
  return sending instanceof ServerResponse && sending.headersSent;
}

function refusalFor(code: string | undefined): Refusal {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: '408 Request Timeout', error: new RelayError('request_timeout') };
    case 'HPE_HEADER_OVERFLOW':
      return {
        status: '431 Request Header Fields Too Large',
        error: invalid('The request line and headers are larger than 16 KiB. Send fewer or shorter headers.'),
      };
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return {
        status: '413 Payload Too Large',
        error: invalid('The body’s chunk extensions are too large. Send chunks without extensions.'),
      };
    default:
      return {
        status: '400 Bad Request',
        error: invalid('The request is not valid HTTP/1.1. Check its framing, headers and encoding.'),
      };
  }
}

function invalid(message: string): RelayError {
  return new RelayError('invalid_request', { message });
}
