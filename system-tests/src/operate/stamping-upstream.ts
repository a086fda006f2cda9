import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface StampingUpstream {
  readonly baseUrl: string;
  close(): Promise<void>;
}

/** How long a stream stays open after its first frame. What buffers keeps that frame for as long. */
const SECOND_FRAME_MS = 250;

/** A provider whose first frame says when it was written. */
export async function startStampingUpstream(): Promise<StampingUpstream> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => stream(response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function stream(response: ServerResponse): void {
  const frame = (content: string) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(frame(`<${performance.timeOrigin + performance.now()}>`));
  setTimeout(() => response.end(`${frame('end')}data: [DONE]\n\n`), SECOND_FRAME_MS);
}

/** When the first frame of a stream was written. */
export function stampOf(text: string): number {
  return Number(/<([\d.]+)>/.exec(text)?.[1] ?? Number.NaN);
}
