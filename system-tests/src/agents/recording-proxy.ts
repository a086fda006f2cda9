import { createServer, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request of a client and what it got for it, byte for byte. */
export interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly body: Buffer;
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  answer: Buffer;
}

export interface RecordingProxy {
  readonly url: string;
  readonly recorded: readonly Recorded[];
  close(): Promise<void>;
}

/** Stands between a client and the gateway, keeps what passes, and changes nothing. */
export async function startRecordingProxy(target: string): Promise<RecordingProxy> {
  const recorded: Recorded[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = 'GET', url: path = '/', headers } = request;
      const body = Buffer.concat(chunks);
      const record: Recorded = { method, path, body, status: 0, headers: {}, answer: Buffer.alloc(0) };
      recorded.push(record);
      const passed = sendRequest(target + path, { method, headers }, (answer) => {
        record.status = answer.statusCode ?? 0;
        record.headers = answer.headers;
        response.writeHead(record.status, answer.headers);
        response.flushHeaders();
        answer.on('data', (chunk: Buffer) => {
          record.answer = Buffer.concat([record.answer, chunk]);
          response.write(chunk);
        });
        answer.on('end', () => response.end());
        answer.on('error', () => response.destroy());
      });
      passed.on('error', () => response.destroy());
      response.on('close', () => passed.destroy());
      passed.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    recorded,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
