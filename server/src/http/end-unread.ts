import type { IncomingMessage, ServerResponse } from 'node:http';

// Long enough for an answer to reach a client on the other side of the world and for it to stop sending.
const LINGER_MS = 2_000;
// Past this the rest stays in the network: the client can no longer send, and reads.
const DISCARDED_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Ends an answer that came before the request's body was read. Closing at once would reset the connection
 * under a client that is still sending, and most clients then report the reset and never see the answer. So
 * the answer goes out whole (its head must announce the length), what still comes is thrown away within
 * bounds, and the connection is closed when the body ends, the client leaves or the time is up.
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
