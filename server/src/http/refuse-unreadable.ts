import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { RelayError } from '../domain/relay-error.ts';
import { errorResponse } from './error-response.ts';

const LINGER_MS = 1_000;

interface Refusal {
  readonly status: string;
  readonly error: RelayError;
}

/**
 * Answers what the HTTP parser turned away (400, 408, 413, 431) in the shape of every other error, straight to
 * the socket: there is no request to answer. Where an answer is under way already, nothing can be added to it.
 */
export function createUnreadableRefusal(options: {
  readonly newRequestId: () => string;
  readonly publicUrl: string;
}): (error: NodeJS.ErrnoException, socket: Socket) => void {
  const refused = new WeakSet<Socket>();
  return (error, socket) => {
    // Whatever else such a client sends is unreadable as well.
    if (refused.has(socket)) return;
    const { _httpMessage: underWay } = socket as Socket & { _httpMessage?: ServerResponse | null };
    if (error.code === 'ECONNRESET' || !socket.writable || underWay?.headersSent === true) {
      socket.destroy();
      return;
    }
    refused.add(socket);
    const { status, error: reason } = refusalFor(error.code);
    const requestId = options.newRequestId();
    const { headers, body } = errorResponse(reason, { requestId, publicUrl: options.publicUrl });
    const fields = { ...headers, 'content-length': String(Buffer.byteLength(body)), connection: 'close' };
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${body}`);
    // A client that is still sending would be reset, and lose the answer, if the socket were closed at once.
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
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
        error: invalid('The chunk extensions of the body are too large. Send chunks without extensions.'),
      };
    default:
      return {
        status: '400 Bad Request',
        error: invalid('The request is not readable as HTTP/1.1. Check its framing, headers and encoding.'),
      };
  }
}

function invalid(message: string): RelayError {
  return new RelayError('invalid_request', { message });
}
