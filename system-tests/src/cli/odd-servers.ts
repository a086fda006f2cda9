import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Servers that are not Relay, or a misconfigured one. Each returns the same response to every request. */
export interface OddServers {
  readonly urls: Readonly<Record<OddName, string>>;
  /** What each was asked with as `Authorization`. */
  readonly authorizations: readonly string[];
  stop(): Promise<void>;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const json = { 'content-type': 'application/json' };
const errorBody = (code: string, message: string) =>
  JSON.stringify({
    error: { type: 'x', code, message, param: null, request_id: 'req-1', doc_url: 'http://x/docs' },
  });

const answers = {
  html: (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Welcome</html>'),
  htmlError: (_request, response) =>
    response.writeHead(502, { 'content-type': 'text/html' }).end('<html><h1>Bad Gateway</h1></html>'),
  notFound: (_request, response) =>
    response.writeHead(404, { 'content-type': 'text/plain' }).end('no such page'),
  redirect: (_request, response) => response.writeHead(302, { location: 'https://login.example/' }).end(),
  halfJson: (_request, response) => response.writeHead(200, json).end('[{"id": "1", "na'),
  empty: (_request, response) => response.writeHead(200, json).end(),
  cut: (_request, response) => {
    response.writeHead(200, { ...json, 'content-length': '1000' });
    response.write('[');
    setImmediate(() => response.destroy());
  },
  reset: (request) => request.socket.destroy(),
  limited: (_request, response) =>
    response
      .writeHead(429, { ...json, 'retry-after': '7' })
      .end(errorBody('queue_full', 'Too many requests wait.')),
  broken: (_request, response) =>
    response.writeHead(500, json).end(errorBody('internal_error', 'The service failed unexpectedly.')),
  storeAway: (_request, response) =>
    response.writeHead(503, json).end(errorBody('store_unavailable', 'The database is unavailable.')),
  future: (_request, response) =>
    response.writeHead(418, json).end(errorBody('code_of_a_later_version', 'Something new.')),
  escape: (_request, response) =>
    response
      .writeHead(400, json)
      .end(errorBody('invalid_request', 'look \u001b[2J\u001b]0;title\u0007 here')),
  slow: (_request, response) => void setTimeout(() => response.writeHead(200, json).end('[]'), 1_200),
} satisfies Record<string, Answer>;

export type OddName = keyof typeof answers;

export async function startOddServers(): Promise<OddServers> {
  const authorizations: string[] = [];
  const servers: Server[] = [];
  const urls = {} as Record<OddName, string>;
  for (const [name, answer] of Object.entries<Answer>(answers)) {
    const server = createServer((request, response) => {
      authorizations.push(request.headers.authorization ?? '');
      answer(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    servers.push(server);
    urls[name as OddName] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  return {
    urls,
    authorizations,
    async stop() {
      for (const server of servers) {
        server.closeAllConnections();
        await new Promise<void>((resolve) => server.close(() => resolve()));
      }
    },
  };
}
