import type { IncomingMessage, ServerResponse } from 'node:http';

// Enough for an answer to reach a distant client and for the client to stop sending.
const LINGER_MS = 2_000;
// After this Relay stops reading: the client can send no more, and reads the answer.
const DISCARDED_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Ends an answer that was sent before the request's body was read. Closing immediately would reset the connection of a client
 * that is still sending, and most clients then report the reset and not the answer. So Relay sends the complete answer (its head
 * must have a length), discards incoming data within limits, and closes the connection when the body ends, the client
 * disconnects or the time is up.
 */
export function endUnread(request: IncomingMessage, response: ServerResponse, body: string): void {
  if (request.complete) {
    response.end(body);
    return;
  }
  let discardedBytes = 0;
  const timer = setTimeout(() => response.end(), LINGER_MS);
  response.once('close', () => clearTimeout(timer));
  request.once('end', () => response.end());
  request.on('data', (chunk: Buffer) => {
    discardedBytes += chunk.length;
    if (discardedBytes > DISCARDED_BYTES_MAX) request.pause();
  });
  response.write(body);
  request.resume();
}
