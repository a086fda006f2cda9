import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { inputRandom } from './input-random.ts';
import { rawAnswer } from './raw-answer.ts';

/** A provider without an HTTP library: it writes the bytes that the input's seed asks for, cut where the seed cuts them. */
export interface RawProvider {
  readonly baseUrl: string;
  /** The names of the requests that arrived. */
  readonly seen: ReadonlySet<string>;
  /** Starts the list of names over. */
  forget(): void;
  close(): Promise<void>;
}

/** The name of an input in its request's body. */
export function tagOf(seed: number, index: number): string {
  return `fuzz-${seed}-${index}`;
}

const TAG = /fuzz-(\d+)-(\d+)/;

export async function startRawProvider(): Promise<RawProvider> {
  const seen = new Set<string>();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let received = '';
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const [tag, seed, index] = TAG.exec(received) ?? [];
      // The tag is in the last member of the body, so the request is whole.
      if (tag === undefined) return;
      received = '';
      seen.add(tag);
      void write(socket, Number(seed), Number(index));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    seen,
    forget: () => seen.clear(),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

async function write(socket: Socket, seed: number, index: number): Promise<void> {
  const { pieces, ending } = rawAnswer(inputRandom(seed, index, 'answer'));
  for (const piece of pieces) {
    if (socket.destroyed) return;
    socket.write(piece);
    // The next piece comes as a read of its own.
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (ending === 'reset') socket.resetAndDestroy();
  else if (ending === 'close') socket.end();
}
