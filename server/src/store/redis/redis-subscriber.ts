import { backoffMs } from '../../kit/backoff.ts';
import { reasonOf } from '../store-health.ts';
import { createClient } from './create-client.ts';
import { CONNECT_TIMEOUT_MS, RECONNECT, SOCKET_TIMEOUT_MS } from './redis-connection.ts';
import type { RedisNodeOptions } from './redis-node.ts';

type Listener = (message: string) => void;

interface Connection {
  readonly client: ReturnType<typeof makeClient>;
  /** Settles when all channels are subscribed, or the connection is lost. */
  readonly subscribed: Promise<void>;
  readonly lost: (error?: unknown) => void;
}

export interface RedisSubscriber {
  subscribe(channel: string, listener: Listener): Promise<() => Promise<void>>;
  close(): void;
}

export type SubscriberOptions = Pick<
  RedisNodeOptions,
  'log' | 'socketTimeoutMs' | 'connectTimeoutMs' | 'random'
>;

/** Subscriptions on their own connection, opened by the first of them. */
export function createRedisSubscriber(urls: readonly string[], options: SubscriberOptions): RedisSubscriber {
  const { connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  const channels = new Map<string, Set<Listener>>();
  const connection = createSubscription(urls, options, {
    names: () => [...channels.keys()],
    deliver(message, channel) {
      for (const listener of channels.get(channel) ?? []) listener(message);
    },
  });
  let closed = false;

  return {
    async subscribe(channel, listener) {
      const listeners = channels.get(channel) ?? new Set();
      channels.set(channel, listeners);
      listeners.add(listener);
      if (!closed) await within(connectTimeoutMs, connection.add(channel));
      return async () => {
        listeners.delete(listener);
        if (listeners.size > 0 || channels.get(channel) !== listeners) return;
        channels.delete(channel);
        await connection.remove(channel);
      };
    },
    close() {
      closed = true;
      connection.close();
    },
  };
}

export interface Channels {
  names(): string[];
  deliver(message: string, channel: string): void;
  /** Subscribed in the slot of their name, one by one; otherwise on any server. */
  readonly sharded?: boolean;
  /** All are subscribed, at first and again after the connection was lost. */
  readonly onSubscribed?: () => void;
  /** The server no longer serves the slot of one of them. */
  readonly onMoved?: () => void;
}

export interface Subscription {
  /** Resolves when the channel is subscribed, or cannot be now. */
  add(channel: string): Promise<void>;
  remove(channel: string): Promise<void>;
  close(): void;
}

/** A connection that fails is followed by one to the next server, with all channels, until it is closed. */
export function createSubscription(
  urls: readonly string[],
  options: SubscriberOptions,
  channels: Channels,
): Subscription {
  const { log, random = Math.random } = options;
  let current: Connection | null = null;
  let retryTimer: NodeJS.Timeout | undefined;
  let failures = 0;
  let attempts = Math.floor(random() * urls.length);

  function connect(): Connection {
    const client = makeClient(urls[attempts % urls.length] ?? '', options);
    attempts += 1;
    const lost = (error?: unknown) => {
      if (current?.client !== client) return;
      current = null;
      client.destroy();
      if (failures === 0)
        log.warn(
          { reason: reasonOf(error ?? 'the connection was closed') },
          'Redis subscription failed; reconnecting',
        );
      retryTimer = setTimeout(connect, backoffMs(RECONNECT, failures, random));
      failures += 1;
    };
    client.on('error', lost);
    client.on('end', () => lost());
    client.on('sharded-channel-moved', () => channels.onMoved?.());
    client.on('ready', () => {
      // A client that is destroyed while it connects still connects, and would ping forever.
      if (current?.client !== client) client.destroy();
    });
    const subscribed = client
      .connect()
      .then(async () => {
        const names = channels.names();
        await subscribeTo(client, names, channels);
        if (failures > 0) log.info({}, 'Redis subscription is active again');
        failures = 0;
        channels.onSubscribed?.();
      })
      .catch(lost);
    current = { client, subscribed, lost };
    return current;
  }

  return {
    add(channel) {
      if (current === null) return retryTimer === undefined ? connect().subscribed : Promise.resolve();
      const { client, subscribed, lost } = current;
      // A connection that is not ready yet subscribes to every channel when it is.
      return client.isReady ? subscribeTo(client, [channel], channels).catch(lost) : subscribed;
    },
    async remove(channel) {
      // A failing connection forgets the channel by itself.
      if (current?.client.isReady !== true) return;
      const { client } = current;
      const left = channels.sharded === true ? client.sUnsubscribe(channel) : client.unsubscribe(channel);
      await left.catch(() => undefined);
    },
    close() {
      clearTimeout(retryTimer);
      const last = current;
      current = null;
      last?.client.destroy();
    },
  };
}

async function subscribeTo(
  client: Connection['client'],
  names: readonly string[],
  { deliver, sharded }: Channels,
): Promise<void> {
  if (sharded === true) await Promise.all(names.map((name) => client.sSubscribe(name, deliver)));
  else if (names.length > 0) await client.subscribe([...names], deliver);
}

/** Whether the work was done in time. */
export async function within(timeoutMs: number, work: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  const isDone = await Promise.race([work.then(() => true), timeout]);
  clearTimeout(timer);
  return isDone;
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
