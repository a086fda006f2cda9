import { type Backoff, backoffMs } from '../../kit/backoff.ts';
import { reasonOf } from '../store-health.ts';
import type { StoreLog } from '../store-log.ts';
import { createClient } from './create-client.ts';

export interface ConnectionOptions {
  readonly log: StoreLog;
  /** How long a connection may be silent. Idle connections are pinged at half this. */
  readonly socketTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  /** Commands that may wait for one server. Relay rejects more: an unbounded queue would grow without limit. */
  readonly commandsMax?: number;
  readonly random?: () => number;
  /** Hears why a connection, or the slots of a cluster, could not be had. */
  readonly onFault?: (error: unknown) => void;
  /** Hears why a write was rejected by a server that answers. */
  readonly onRejectedWrite?: (error: unknown) => void;
}

export const CONNECT_TIMEOUT_MS = 1_000;
export const SOCKET_TIMEOUT_MS = 5_000;
export const COMMANDS_MAX = 10_000;
/** Between connection attempts. */
export const RECONNECT: Backoff = { minMs: 50, maxMs: 2_000 };

const REASONS_LOGGED_MAX = 5;

export type RedisClient = ReturnType<typeof makeClient>;

/** One connection to a server, reconnected until it is closed. */
export interface RedisConnection {
  client(): RedisClient;
  /** Rejects the commands that wait on the old connection. */
  replace(): void;
  close(): void;
}

/** `onReady` runs after each handshake. */
export function createRedisConnection(
  url: string,
  options: ConnectionOptions,
  onReady: () => void,
): RedisConnection {
  const { log } = options;
  const { host } = new URL(url);
  let closed = false;
  /** Why it failed since it was last ready: a rejected password must not hide behind the lost connection before it. */
  const reasons = new Set<string>();
  let client = connect();

  function connect(): RedisClient {
    const made = makeClient(url, options);
    made.on('error', (error: unknown) => {
      options.onFault?.(error);
      const reason = reasonOf(error);
      if (!reasons.has(reason) && reasons.size < REASONS_LOGGED_MAX && !closed)
        log.warn({ reason, server: host }, 'Redis connection failed; reconnecting');
      if (reasons.size < REASONS_LOGGED_MAX) reasons.add(reason);
    });
    made.on('ready', () => {
      // A client that is destroyed while it connects still connects, and would ping forever.
      if (made !== client || closed) return made.destroy();
      if (reasons.size > 0) log.info({ server: host }, 'Redis connection is ready again');
      reasons.clear();
      onReady();
    });
    // Rejects only when the client is destroyed; every other failure is retried and reported as an event.
    made.connect().catch(() => undefined);
    return made;
  }

  return {
    client: () => client,
    replace() {
      if (closed) return;
      const old = client;
      client = connect();
      old.destroy();
    },
    close() {
      if (closed) return;
      closed = true;
      client.destroy();
    },
  };
}

function makeClient(url: string, options: ConnectionOptions) {
  const { socketTimeoutMs = SOCKET_TIMEOUT_MS, random = Math.random } = options;
  return createClient({
    url,
    // The client's own timeout creates an AbortSignal per command, which costs more than the command.
    commandOptions: { timeout: 0 },
    commandsQueueMaxLength: options.commandsMax ?? COMMANDS_MAX,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    pingInterval: Math.ceil(socketTimeoutMs / 2),
    socket: {
      connectTimeout: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
      socketTimeout: socketTimeoutMs,
      reconnectStrategy: (retries) => backoffMs(RECONNECT, retries, random),
    },
  });
}
