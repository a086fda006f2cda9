import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AnswerCase } from './answer-cases.ts';

/**
 * An upstream that keeps the bytes it was sent and answers with the bytes it was told to, however odd. Which
 * answer belongs to which request is said by `openai-beta` or `anthropic-beta`, headers that the gateway passes on.
 */
export interface ScriptedUpstream {
  readonly baseUrl: string;
  expect(key: string, answer: AnswerCase): void;
  /** The bytes received for the key, once per request. */
  received(key: string): readonly Buffer[];
  forget(key: string): void;
  close(): Promise<void>;
}

interface Script {
  readonly answer: AnswerCase;
  readonly bodies: Buffer[];
}

export async function startScriptedUpstream(): Promise<ScriptedUpstream> {
  const scripts = new Map<string, Script>();
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const script = scripts.get(String(request.headers['openai-beta'] ?? request.headers['anthropic-beta']));
      if (script === undefined) {
        response.writeHead(404).end();
        return;
      }
      script.bodies.push(Buffer.concat(chunks));
      const { status, headers, pieces } = script.answer;
      response.sendDate = false;
      response.writeHead(status, [...headers]);
      void writePieces(pieces, (piece) => response.write(piece)).then(() => response.end());
    });
  });
  server.on('connection', (socket) => socket.setNoDelay(true));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    expect: (key, answer) => scripts.set(key, { answer, bodies: [] }),
    received: (key) => scripts.get(key)?.bodies ?? [],
    forget: (key) => scripts.delete(key),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Each piece in a turn of its own, so that it travels in a packet of its own where the system lets it. */
export async function writePieces(pieces: readonly Buffer[], write: (piece: Buffer) => void): Promise<void> {
  for (const piece of pieces) {
    write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
