import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/**
 * A provider whose streams never end: it writes as fast as it is read, from one prepared block, so that the
 * buffers between it and a slow reader fill up within seconds.
 */
export interface EndlessUpstream {
  readonly baseUrl: string;
  /** Those so far; may be emptied. */
  readonly streams: EndlessStream[];
  openConnections(): number;
  close(): Promise<void>;
}

export interface EndlessStream {
  readonly tag: string;
  bytesSent: number;
  /** When its connection went away. */
  closedAtMs: number | null;
}

export const BLOCK_FRAMES = 16;
const FRAME_TEXT_BYTES = 4 * 1024;

export async function startEndlessUpstream(): Promise<EndlessUpstream> {
  const streams: EndlessStream[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    void tagOf(request).then((tag) => {
      const stream: EndlessStream = { tag, bytesSent: 0, closedAtMs: null };
      streams.push(stream);
      serveEndlessly(response, stream);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    streams,
    openConnections: () => sockets.size,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function tagOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString()) as { sim: { tag: string } };
  return body.sim.tag;
}

/** The frames of a block are numbered, so that a reader can tell whether one is missing. */
function blockOf(tag: string): Buffer {
  const frames = Array.from({ length: BLOCK_FRAMES }, (_, index) => {
    const content = `<${tag}:${index}>${'x'.repeat(FRAME_TEXT_BYTES)}`;
    return `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
  });
  return Buffer.from(frames.join(''));
}

function serveEndlessly(response: ServerResponse, stream: EndlessStream): void {
  const block = blockOf(stream.tag);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  function fill(): void {
    if (stream.closedAtMs !== null) return;
    const room = response.write(block);
    stream.bytesSent += block.length;
    // One block a turn, so that all streams fill up side by side.
    if (room) setImmediate(fill);
  }
  response.on('drain', fill);
  response.on('close', () => {
    stream.closedAtMs = Date.now();
  });
  fill();
}
