import type { IncomingMessage, ServerResponse } from 'node:http';
import { RelayError } from '../domain/relay-error.ts';

/** The client disconnected before its request was complete. */
export class ClientGoneError extends Error {}

/**
 * Reads the complete body, or rejects with 413 as soon as it is known to be too large: by Content-Length before a byte is
 * read, otherwise at the first byte over the limit.
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  bytesMax: number,
): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > bytesMax) return Promise.reject(tooLarge(bytesMax));
  // A client that disconnected while its key was looked up emits no further event.
  if (request.destroyed) return Promise.reject(new ClientGoneError());
  // The client waits for 100 Continue before it sends the body.
  if (request.headers.expect !== undefined && request.httpVersion === '1.1') response.writeContinue();

  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let receivedBytes = 0;

    function stop(): void {
      request.off('data', onData);
      request.off('end', onEnd);
      request.off('close', onClose);
      request.off('error', onClose);
    }
    function onData(chunk: Buffer): void {
      receivedBytes += chunk.length;
      if (receivedBytes > bytesMax) {
        stop();
        request.pause();
        reject(tooLarge(bytesMax));
        return;
      }
      chunks.push(chunk);
    }
    function onEnd(): void {
      stop();
      const only = chunks.length === 1 ? chunks[0] : undefined;
      resolve(only ?? Buffer.concat(chunks, receivedBytes));
    }
    function onClose(): void {
      stop();
      reject(new ClientGoneError());
    }
    request.on('data', onData);
    request.on('end', onEnd);
    request.on('close', onClose);
    request.on('error', onClose);
  });
}

function tooLarge(bytesMax: number): RelayError {
  return new RelayError('body_too_large', {
    message: `The request body is larger than ${bytesMax} bytes. Send less, or have the operator raise RELAY_MAX_BODY_BYTES.`,
    fields: { limit_bytes: bytesMax },
  });
}
