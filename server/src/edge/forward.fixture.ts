import { randomUUIDv7 } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createConnection } from 'node:net';
import type { Caller } from '../domain/caller.ts';
import { createBodyMemory } from '../http/body-memory.ts';
import { listen } from '../http/listener.ts';
import { systemClock } from '../kit/clock.ts';
import { createInternalLink } from '../kit/egress/index.ts';
import { createFairSlices } from '../kit/fair-slices.ts';
import { createLog } from '../kit/log.ts';
import { contextFor, newKeyPair } from './context/context.fixture.ts';
import { createContextSigner } from './context/sign-context.ts';
import { createContextVerifier } from './context/verify-context.ts';
import { createForwarder, type ForwarderDeps } from './forward.ts';

const platformKey = newKeyPair();
/** What inference reads in a context of the platform below. */
export const verify = createContextVerifier({ publicKeys: [platformKey.publicKey], clock: systemClock });
export const { caller: identity } = contextFor();
export const caller: Caller = {
  ...identity,
  access: { granted: identity.scopes, permissions: identity.scopes, plan: 'team' },
  keyPolicies: [],
};
export const CHAT = '/v1/chat/completions';

export interface Places {
  /** A server in place of inference; returns its address. */
  inferenceThat(answer: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<string>;
  /** A platform in front of it that accepts every caller; returns its address. */
  platformBefore(origin: string, over?: Partial<ForwarderDeps>): Promise<string>;
  close(): Promise<void>;
}

export function openPlaces(): Places {
  const closers: (() => unknown)[] = [];
  return {
    async inferenceThat(answer) {
      const server = createServer((request, response) => void answer(request, response));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      closers.push(() => {
        server.close();
        server.closeAllConnections();
      });
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
    async platformBefore(origin, over = {}) {
      const link = createInternalLink({
        origin,
        connectTimeoutMs: 1_000,
        requestsMax: 100,
        headTimeoutMs: 5_000,
        idleTimeoutMs: 5_000,
      });
      const listener = await listen(
        { host: '127.0.0.1', port: 0 },
        {
          newRequestId: randomUUIDv7,
          publicUrl: 'http://relay.example',
          health: () => ({ draining: false, version: '1.0.0', role: 'all', checks: {} }),
          inference: createForwarder({
            authenticate: () => caller,
            sign: createContextSigner({ seed: platformKey.seed, clock: systemClock }),
            versionOf: () => 12,
            link,
            bodyBytesMax: 64 * 1024,
            bodyMemory: createBodyMemory({ bytesMax: 128 * 1024, shared: true }),
            bodyPace: null,
            slices: createFairSlices(systemClock, 1),
            publicUrl: 'http://relay.example',
            draining: () => false,
            open: new Set(),
            log: createLog('silent'),
            ...over,
          }),
          everythingElse: (_request, response) => void response.writeHead(404).end(),
          headersTimeoutMs: 1_000,
          requestTimeoutMs: 1_500,
        },
      );
      closers.push(async () => {
        await listener.drain(0);
        await link.close();
      });
      return listener.address;
    },
    async close() {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
}

export async function wholeBody(message: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export function post(url: string): Promise<Response> {
  return fetch(url + CHAT, { method: 'POST', body: '{}' });
}

export async function codeOf(response: Response): Promise<string> {
  return ((await response.json()) as { error: { code: string } }).error.code;
}

/** The response until the connection is closed. */
export async function talk(url: string, text: string): Promise<string> {
  const socket = createConnection(Number(new URL(url).port), '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.write(text, 'latin1');
  await new Promise((resolve) => socket.on('close', resolve));
  return Buffer.concat(chunks).toString('latin1');
}
