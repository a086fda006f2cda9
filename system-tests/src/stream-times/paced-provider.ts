import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Play } from './plays.ts';

/** A provider that plays scripts and notes when it wrote what. A request says in its text which of them it is. */
export interface PacedProvider {
  /** The base URL of an endpoint, which its requests name. */
  urlOf(endpoint: string): string;
  /** What the next request with this name gets; answers what was done, which grows. */
  expect(name: string, play: (endpoint: string) => Play): Done;
  close(): Promise<void>;
}

export interface Done {
  /** The endpoints that were asked, in order. */
  readonly asked: string[];
  /** Of the last request; `NaN` until then. */
  headAtMs: number;
  /** When each keep-alive was written. */
  readonly keepAliveAtMs: number[];
  contentAtMs: number;
}

/** In the text of a request. */
const nameIn = (text: string) => /play\[([^\]]+)\]/.exec(text)?.[1];
export const textFor = (name: string) => `play[${name}]`;

export async function startPacedProvider(): Promise<PacedProvider> {
  const plays = new Map<string, { readonly done: Done; readonly play: (endpoint: string) => Play }>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const [, endpoint = ''] = (request.url ?? '').split('/');
      const expected = plays.get(nameIn(Buffer.concat(chunks).toString('utf8')) ?? '');
      if (expected === undefined) {
        response.writeHead(500).end();
        return;
      }
      expected.done.asked.push(endpoint);
      void perform(response, expected.play(endpoint), expected.done);
    });
  });
  server.on('connection', (socket) => socket.setNoDelay(true));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (endpoint) => `http://127.0.0.1:${port}/${endpoint}/v1`,
    expect(name, play) {
      const done: Done = {
        asked: [],
        headAtMs: Number.NaN,
        keepAliveAtMs: [],
        contentAtMs: Number.NaN,
      };
      plays.set(name, { done, play });
      return done;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function perform(response: ServerResponse, play: Play, done: Done): Promise<void> {
  await afterMs(play.headAfterMs);
  done.headAtMs = performance.now();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  for (const step of play.steps) {
    await afterMs(step.afterMs);
    if (response.destroyed) return;
    const nowMs = performance.now();
    if (step.isKeepAlive === true) done.keepAliveAtMs.push(nowMs);
    else done.contentAtMs = nowMs;
    response.write(step.bytes);
  }
  if (play.end === 'clean') response.end();
  // What was written reaches the gateway before the reset does.
  else setTimeout(() => response.destroy(), 50);
}

/** A provider's pace is time itself. */
function afterMs(ms: number): Promise<void> {
  return ms === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}
