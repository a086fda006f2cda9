import { createClient, ErrorReply } from 'redis';
import { type BreakerState, createBreaker } from '../kit/breaker.ts';
import type { Clock } from '../kit/clock.ts';
import { createDeadlineQueue } from './deadline-queue.ts';
import { storeUnavailable } from './store-error.ts';
import type { StoreLog } from './store-log.ts';

export interface RedisOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly log: StoreLog;
  /** How long a connection may be silent. Idle connections are pinged at half this. */
  readonly socketTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  /** Every command is answered, or fails, within this. */
  readonly commandTimeoutMs?: number;
  /** Commands under way at once; more are refused, because a queue without end is a leak. */
  readonly commandsMax?: number;
  readonly breaker?: { readonly failuresMax: number; readonly openMs: number };
  readonly random?: () => number;
}

export interface RedisState {
  readonly ready: boolean;
  readonly breaker: BreakerState;
}

/** Narrow on purpose: a cluster fits behind it, given the key that names the slot. */
export interface Redis {
  /**
   * Sends one command and answers its reply. Throws `store_unavailable` when Redis cannot answer in time, in
   * which case it is unknown whether the command ran; an error reply of the script or command is thrown as it is.
   */
  run(command: readonly string[], routingKey?: string): Promise<unknown>;
  /** From memory; calls nothing. */
  state(): RedisState;
  /** Resolves when a connection is ready, rejects when none is within the time. */
  whenReady(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}

const RETRY_MS_MIN = 50;
const RETRY_MS_MAX = 2_000;
/** Replies that mean "not now" rather than "wrong command". */
const UNAVAILABLE_REPLY =
  /^(LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|READONLY|TRYAGAIN|OOM|MISCONF|NOREPLICAS|NOAUTH|WRONGPASS)\b/;

export function createRedis(options: RedisOptions): Redis {
  const { clock, log, socketTimeoutMs = 5_000, commandTimeoutMs = 250, random = Math.random } = options;
  const deadlines = createDeadlineQueue({ clock, timeoutMs: commandTimeoutMs });
  const waiting = new Set<() => void>();
  let closed = false;
  let failing = false;
  let client = connect();
  const breaker = createBreaker({
    clock,
    ...(options.breaker ?? { failuresMax: 5, openMs: 500 }),
    onChange(state) {
      log.warn({ state }, 'Redis breaker changed');
      // A connection on which answers stay out may be dead without having closed. A new one also rejects what
      // waits on the old, and its handshake is the proof that Redis answers again.
      if (state === 'open' && client.isReady && !closed) replaceClient();
    },
  });

  function connect(): ReturnType<typeof makeClient> {
    const made = makeClient(options, socketTimeoutMs, random);
    made.on('error', (error: unknown) => {
      if (!failing && !closed) log.warn({ err: error }, 'Redis connection failed; reconnecting');
      failing = true;
    });
    made.on('ready', () => {
      if (made !== client) return;
      if (failing) log.info({}, 'Redis connection is ready again');
      failing = false;
      breaker.reset();
      for (const resolve of waiting) resolve();
    });
    // Rejects only when it is destroyed; every other failure is retried and reported as an event.
    made.connect().catch(() => undefined);
    return made;
  }

  function replaceClient(): void {
    const old = client;
    client = connect();
    old.destroy();
  }

  return {
    run(command) {
      if (!breaker.tryPass()) return Promise.reject(storeUnavailable('redis', 'the breaker is open'));
      return new Promise((resolve, reject) => {
        const deadline = deadlines.add(() => {
          breaker.failed();
          reject(storeUnavailable('redis', `no answer within ${commandTimeoutMs} ms`));
        });
        client.sendCommand(command as string[]).then(
          (reply) => {
            if (deadline.done) return;
            deadline.done = true;
            breaker.succeeded();
            resolve(reply);
          },
          (error: unknown) => {
            if (deadline.done) return;
            deadline.done = true;
            const answered = error instanceof ErrorReply;
            if (answered) breaker.succeeded();
            else breaker.failed();
            reject(
              answered && !UNAVAILABLE_REPLY.test(error.message) ? error : storeUnavailable('redis', error),
            );
          },
        );
      });
    },
    state: () => ({ ready: client.isReady, breaker: breaker.state() }),
    whenReady(timeoutMs) {
      if (client.isReady) return Promise.resolve();
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(ready);
          reject(storeUnavailable('redis', `no connection within ${timeoutMs} ms`));
        }, timeoutMs);
        const ready = () => {
          clearTimeout(timer);
          waiting.delete(ready);
          resolve();
        };
        waiting.add(ready);
      });
    },
    async close() {
      if (closed) return;
      closed = true;
      client.destroy();
      deadlines.clear();
    },
  };
}

function makeClient(options: RedisOptions, socketTimeoutMs: number, random: () => number) {
  return createClient({
    url: options.url,
    // The client's own timeout makes an AbortSignal per command, which costs more than the command does.
    commandOptions: { timeout: 0 },
    commandsQueueMaxLength: options.commandsMax ?? 10_000,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    pingInterval: Math.ceil(socketTimeoutMs / 2),
    socket: {
      connectTimeout: options.connectTimeoutMs ?? 1_000,
      socketTimeout: socketTimeoutMs,
      reconnectStrategy: (retries) =>
        Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** Math.min(retries, 10)) * (0.5 + random() / 2),
    },
  });
}
