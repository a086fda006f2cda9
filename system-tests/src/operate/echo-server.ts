import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface EchoServer {
  readonly url: string;
  close(): Promise<void>;
}

/** In a gateway's place: answers every request with the headers that reached it. */
export async function startEchoServer(): Promise<EchoServer> {
  const server = createServer((request, response) => {
    response.end(JSON.stringify(request.headers));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
