import { createClient } from 'redis';
import { CONNECT_TIMEOUT_MS, type RedisNodeOptions, retryMs, SOCKET_TIMEOUT_MS } from './redis-node.ts';

type Listener = (message: string) => void;

interface Connection {
  readonly client: ReturnType<typeof makeClient>;
  /** Settles when the channels stand, or the connection is lost. */
  readonly standing: Promise<void>;
  readonly lost: (error?: unknown) => void;
}

export interface RedisSubscriber {
  subscribe(channel: string, listener: Listener): Promise<() => Promise<void>>;
  close(): void;
}

/**
 * Subscriptions on a connection of their own, made when the first is asked for. A connection that fails is followed by
 * one to the next of the servers, with all channels, until it is closed.
 */
export function createRedisSubscriber(
  urls: readonly string[],
  options: Pick<RedisNodeOptions, 'log' | 'socketTimeoutMs' | 'connectTimeoutMs' | 'random'>,
): RedisSubscriber {
  const { log, random = Math.random, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  const channels = new Map<string, Set<Listener>>();
  let current: Connection | null = null;
  let retryTimer: NodeJS.Timeout | undefined;
  let failures = 0;
  let attempts = Math.floor(random() * urls.length);
  let closed = false;

  function deliver(message: string, channel: string): void {
    for (const listener of channels.get(channel) ?? []) listener(message);
  }

  function connect(): Connection {
    const client = makeClient(urls[attempts % urls.length] ?? '', options);
    attempts += 1;
    const lost = (error?: unknown) => {
      if (current?.client !== client) return;
      current = null;
      client.destroy();
      if (failures === 0) log.warn({ err: error }, 'Redis subscription failed; reconnecting');
      retryTimer = setTimeout(connect, retryMs(failures, random));
      failures += 1;
    };
    client.on('error', lost);
    client.on('end', () => lost());
    client.on('ready', () => {
      // A client that is destroyed while it connects connects all the same, and would ping for ever.
      if (current?.client !== client) client.destroy();
    });
    const standing = client
      .connect()
      .then(async () => {
        if (channels.size > 0) await client.subscribe([...channels.keys()], deliver);
        if (failures > 0) log.info({}, 'Redis subscription stands again');
        failures = 0;
      })
      .catch(lost);
    current = { client, standing, lost };
    return current;
  }

  /** Settles when the channel stands, or cannot stand now. */
  function ask(channel: string): Promise<void> {
    if (current === null) return retryTimer === undefined ? connect().standing : Promise.resolve();
    const { client, standing, lost } = current;
    // Who is still connecting asks for every channel there is then.
    return client.isReady ? client.subscribe(channel, deliver).catch(lost) : standing;
  }

  return {
    async subscribe(channel, listener) {
      const listeners = channels.get(channel) ?? new Set();
      channels.set(channel, listeners);
      listeners.add(listener);
      if (!closed) await within(connectTimeoutMs, ask(channel));
      return async () => {
        listeners.delete(listener);
        if (listeners.size > 0 || channels.get(channel) !== listeners) return;
        channels.delete(channel);
        // A connection that is just failing forgets the channel by itself.
        if (current?.client.isReady === true)
          await current.client.unsubscribe(channel).catch(() => undefined);
      };
    },
    close() {
      closed = true;
      clearTimeout(retryTimer);
      const last = current;
      current = null;
      last?.client.destroy();
    },
  };
}

async function within(timeoutMs: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  await Promise.race([work, timeout]);
  clearTimeout(timer);
}

function makeClient(url: string, options: Pick<RedisNodeOptions, 'socketTimeoutMs' | 'connectTimeoutMs'>) {
  const { socketTimeoutMs = SOCKET_TIMEOUT_MS, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  return createClient({
    url,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    pingInterval: Math.ceil(socketTimeoutMs / 2),
    socket: { connectTimeout: connectTimeoutMs, socketTimeout: socketTimeoutMs, reconnectStrategy: false },
  });
}
