import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { makeServiceAccount } from '@relay/testbed';

/** For tests: a token endpoint whose answers the test chooses, and the service account that it belongs to. */
export interface TokenEndpoint {
  /** The secret of a credential. */
  readonly secret: string;
  readonly assertions: string[];
  readonly publicKey: string;
  /** The status of answers from now on; null: none are sent until it is set again. */
  status: number | null;
  lifeSeconds: number | undefined;
  close(): void;
}

export async function startTokenEndpoint(): Promise<TokenEndpoint> {
  const account = makeServiceAccount('key-1');
  const waiting: ServerResponse[] = [];
  let status: number | null = 200;
  const answer = (response: ServerResponse) => {
    const token = { access_token: `token-${endpoint.assertions.length}`, expires_in: endpoint.lifeSeconds };
    response.writeHead(status ?? 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(status === 200 ? token : { error: 'invalid_grant' }));
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      endpoint.assertions.push(new URLSearchParams(String(Buffer.concat(chunks))).get('assertion') ?? '');
      if (status === null) waiting.push(response);
      else answer(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const endpoint: TokenEndpoint = {
    secret: account.secret(`http://127.0.0.1:${port}/token`),
    assertions: [],
    publicKey: account.publicKey,
    get status() {
      return status;
    },
    set status(next) {
      status = next;
      if (next !== null) for (const each of waiting.splice(0)) answer(each);
    },
    lifeSeconds: 100,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return endpoint;
}
