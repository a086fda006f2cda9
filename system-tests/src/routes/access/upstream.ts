import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A provider that takes anything, and whose address tells which organization a request was sent for. */
export interface Upstream {
  readonly urlOf: (organizationId: string) => string;
  /** The organizations whose provider was asked, in order. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

const CHOICE = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' };
const USAGE = { prompt_tokens: 1, completion_tokens: 1, input_tokens: 1, output_tokens: 1, total_tokens: 2 };

export async function startUpstream(): Promise<Upstream> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url?.split('/')[1] ?? '');
    request.resume();
    request.once('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ id: 'answer', object: 'answer', data: [], choices: [CHOICE], usage: USAGE }),
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (organizationId) => `http://127.0.0.1:${port}/${organizationId}/v1`,
    asked,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
