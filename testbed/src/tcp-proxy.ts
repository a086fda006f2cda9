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
  /** Connections stay open, new ones are accepted, and no byte passes: in neither direction, or not in the one that is named. */
  stall(way?: Way): void;
  /** Every byte passes this much later, in both directions. */
  slow(delayMs: number): void;
  /** Serves again without delay, and lets stalled bytes pass. */
  heal(): Promise<void>;
  /** New connections go to this service; those there are stay. */
  retarget(target: string): void;
  close(): Promise<void>;
}

/** What clients send, or what the server answers. */
export type Way = 'requests' | 'answers';

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
}

/** `target` is the URL of any TCP service; its host and port are used. */
export async function startTcpProxy(options: { target: string }): Promise<TcpProxy> {
  let target = new URL(options.target);
  const pairs = new Set<Pair>();
  const stalled = { requests: false, answers: false };
  let delayMs = 0;
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
    forward('requests', client, upstream, end);
    forward('answers', upstream, client, end);
    hold(pair);
  }

  function forward(way: Way, from: Socket, to: Socket, end: () => void): void {
    const underWay: Buffer[] = [];
    // The oldest first, whichever timer fires: bytes keep their order when the delay changes.
    const passOldest = () => {
      const chunk = underWay.shift();
      if (chunk !== undefined && !to.destroyed && !to.write(chunk)) from.pause();
    };
    from.on('data', (chunk: Buffer) => {
      const isFirst = underWay.push(chunk) === 1;
      if (delayMs === 0 && isFirst) passOldest();
      else setTimeout(passOldest, delayMs);
    });
    to.on('drain', () => {
      if (!stalled[way]) from.resume();
    });
    from.on('error', end);
    from.on('close', end);
  }

  function hold({ client, upstream }: Pair): void {
    if (stalled.requests) client.pause();
    if (stalled.answers) upstream.pause();
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
    stall(way) {
      stalled.requests = way !== 'answers';
      stalled.answers = way !== 'requests';
      for (const pair of pairs) hold(pair);
    },
    slow(ms) {
      delayMs = ms;
    },
    async heal() {
      stalled.requests = false;
      stalled.answers = false;
      delayMs = 0;
      for (const { client, upstream } of pairs) {
        client.resume();
        upstream.resume();
      }
      if (server.listening) return;
      server = createServer(accept);
      await listenOn(server, port);
    },
    retarget(next) {
      target = new URL(next);
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
