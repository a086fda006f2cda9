import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';

/** Stands between a client and a server and makes the network fail on command. */
export interface TcpProxy {
  readonly port: number;
  /** The target's URL with the proxy in the place of the target. */
  readonly url: string;
  /** Breaks the connections there are; new ones are served. */
  cut(): void;
  /** Breaks the connections there are and refuses new ones. */
  refuse(): Promise<void>;
  /** Connections stay open, new ones are accepted, and no byte passes. */
  stall(): void;
  /** Serves again, and lets stalled bytes pass. */
  heal(): Promise<void>;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
}

/** `target` is the URL of any TCP service; its host and port are used. */
export async function startTcpProxy(options: { target: string }): Promise<TcpProxy> {
  const target = new URL(options.target);
  const pairs = new Set<Pair>();
  let stalled = false;
  let server = createServer(accept);
  const port = await listenOn(server, 0);
  const url = new URL(target);
  url.host = `127.0.0.1:${port}`;

  function accept(client: Socket): void {
    const upstream = createConnection({ host: target.hostname, port: Number(target.port) });
    const pair = { client, upstream };
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    forward(client, upstream, end);
    forward(upstream, client, end);
    if (stalled) hold(pair);
  }

  function forward(from: Socket, to: Socket, end: () => void): void {
    from.on('data', (chunk) => {
      if (!to.write(chunk)) from.pause();
    });
    to.on('drain', () => {
      if (!stalled) from.resume();
    });
    from.on('error', end);
    from.on('close', end);
  }

  function hold({ client, upstream }: Pair): void {
    client.pause();
    upstream.pause();
  }

  function cut(): void {
    for (const { client, upstream } of pairs) {
      client.resetAndDestroy();
      upstream.destroy();
    }
    pairs.clear();
  }

  async function refuse(): Promise<void> {
    cut();
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  }

  return {
    port,
    url: url.href,
    cut,
    refuse,
    stall() {
      stalled = true;
      for (const pair of pairs) hold(pair);
    },
    async heal() {
      stalled = false;
      for (const { client, upstream } of pairs) {
        client.resume();
        upstream.resume();
      }
      if (server.listening) return;
      server = createServer(accept);
      await listenOn(server, port);
    },
    close: refuse,
  };
}

async function listenOn(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the proxy has no port');
  return address.port;
}
