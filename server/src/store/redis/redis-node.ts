import { createClient, ErrorReply } from 'redis';
import { type BreakerState, createBreaker } from '../../kit/breaker.ts';
import type { Clock } from '../../kit/clock.ts';
import { createSendGate } from '../send-gate.ts';
import { storeUnavailable } from '../store-error.ts';
import type { StoreLog } from '../store-log.ts';
import { createDeadlineQueue } from './deadline-queue.ts';

export interface RedisNodeOptions {
  readonly clock: Clock;
  readonly log: StoreLog;
  /** How long a connection may be silent. Idle connections are pinged at half this. */
  readonly socketTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  /** How long the server may be silent: a command fails after this, unless others are being answered before it. */
  readonly commandTimeoutMs?: number;
  /** Commands that may wait for one server; more are refused, because a queue without end is a leak. */
  readonly commandsMax?: number;
  readonly breaker?: { readonly failuresMax: number; readonly openMs: number };
  readonly random?: () => number;
}

export interface RedisState {
  readonly ready: boolean;
  readonly breaker: BreakerState;
}

/** One server: a connection that is made again for as long as it is wanted, and a breaker before it. */
export interface RedisNode {
  /** The server's host, for replies that leave it out. */
  readonly host: string;
  /** `asking` lets the command in at a server to which the slot is just being moved. */
  run(command: readonly string[], asking?: boolean): Promise<unknown>;
  state(): RedisState;
  whenReady(timeoutMs: number): Promise<void>;
  close(): void;
}

export const CONNECT_TIMEOUT_MS = 1_000;
export const SOCKET_TIMEOUT_MS = 5_000;
export const COMMAND_TIMEOUT_MS = 250;
/** Sent and not answered yet, by one process to one server; the others wait here. */
const UNDER_WAY_MAX = 16;
const COMMANDS_MAX = 10_000;
/** A command behind many others gets this many times its time, as long as those are answered. */
const QUEUED_TIMES_MAX = 8;
const RETRY_MS_MIN = 50;
const RETRY_MS_MAX = 2_000;
/** Replies that mean "not now" rather than "wrong command". */
const UNAVAILABLE_REPLY =
  /^(LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|READONLY|TRYAGAIN|OOM|MISCONF|NOREPLICAS|NOAUTH|WRONGPASS)\b/;

/** How long to wait before the next attempt to connect; spread, so that a fleet does not return in one moment. */
export function retryMs(retries: number, random: () => number): number {
  return Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** Math.min(retries, 10)) * (0.5 + random() / 2);
}

export function createRedisNode(
  url: string,
  options: RedisNodeOptions,
  onReady: () => void = () => undefined,
): RedisNode {
  const { clock, log, commandTimeoutMs = COMMAND_TIMEOUT_MS } = options;
  const deadlines = createDeadlineQueue({ clock, timeoutMs: commandTimeoutMs });
  const gate = createSendGate({
    underWayMax: UNDER_WAY_MAX,
    waitingMax: options.commandsMax ?? COMMANDS_MAX,
  });
  const waiting = new Set<() => void>();
  const { host, hostname } = new URL(url);
  let answeredMs = Number.NEGATIVE_INFINITY;
  let closed = false;
  let failing = false;
  let client = connect();
  const breaker = createBreaker({
    clock,
    ...(options.breaker ?? { failuresMax: 5, openMs: 500 }),
    onChange(state) {
      log.warn({ state, server: host }, 'Redis breaker changed');
      // A connection on which answers stay out may be dead without having closed. A new one also rejects what
      // waits on the old, and its handshake is the proof that Redis answers again.
      if (state === 'open' && client.isReady && !closed) replaceClient();
      if (state === 'open') gate.clear();
    },
  });

  function connect(): ReturnType<typeof makeClient> {
    const made = makeClient(url, options);
    made.on('error', (error: unknown) => {
      if (!failing && !closed)
        log.warn({ err: error, server: host }, 'Redis connection failed; reconnecting');
      failing = true;
    });
    made.on('ready', () => {
      // A client that is destroyed while it connects connects all the same, and would ping for ever.
      if (made !== client || closed) return made.destroy();
      if (failing) log.info({ server: host }, 'Redis connection is ready again');
      failing = false;
      breaker.reset();
      for (const resolve of waiting) resolve();
      onReady();
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

  function send(
    command: readonly string[],
    asking: boolean,
    askedMs: number,
    resolve: (reply: unknown) => void,
    reject: (error: unknown) => void,
  ): void {
    let deadline = deadlines.add(expire);
    /** Answers come in order: while others arrive, this one stands in a queue, and the server is not silent. */
    function expire(): void {
      const nowMs = clock.monotonicMs();
      if (nowMs - answeredMs < commandTimeoutMs && nowMs - askedMs < commandTimeoutMs * QUEUED_TIMES_MAX) {
        deadline = deadlines.add(expire);
        return;
      }
      breaker.failed();
      gate.leave();
      reject(storeUnavailable('redis', `no answer within ${commandTimeoutMs} ms`));
    }
    /** False when it had failed before. */
    function ended(): boolean {
      if (deadline.done) return false;
      deadline.done = true;
      gate.leave();
      return true;
    }
    // Counts for the next command of the connection, which is the one below.
    if (asking) client.sendCommand(['ASKING']).catch(() => undefined);
    client.sendCommand(command as string[]).then(
      (reply) => {
        answeredMs = clock.monotonicMs();
        if (!ended()) return;
        breaker.succeeded();
        resolve(reply);
      },
      (error: unknown) => {
        const answered = error instanceof ErrorReply;
        if (answered) answeredMs = clock.monotonicMs();
        if (!ended()) return;
        if (answered) breaker.succeeded();
        else breaker.failed();
        reject(answered && !UNAVAILABLE_REPLY.test(error.message) ? error : storeUnavailable('redis', error));
      },
    );
  }

  return {
    host: hostname,
    run(command, asking = false) {
      if (!breaker.tryPass()) return Promise.reject(storeUnavailable('redis', 'the breaker is open'));
      return new Promise((resolve, reject) => {
        const askedMs = clock.monotonicMs();
        gate.enter(
          () => send(command, asking, askedMs, resolve, reject),
          () => reject(storeUnavailable('redis', 'too many commands wait, or the breaker has opened')),
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
    close() {
      if (closed) return;
      closed = true;
      client.destroy();
      gate.clear();
      deadlines.clear();
    },
  };
}

function makeClient(url: string, options: RedisNodeOptions) {
  const { socketTimeoutMs = SOCKET_TIMEOUT_MS, random = Math.random } = options;
  return createClient({
    url,
    // The client's own timeout makes an AbortSignal per command, which costs more than the command does.
    commandOptions: { timeout: 0 },
    commandsQueueMaxLength: options.commandsMax ?? COMMANDS_MAX,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    pingInterval: Math.ceil(socketTimeoutMs / 2),
    socket: {
      connectTimeout: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
      socketTimeout: socketTimeoutMs,
      reconnectStrategy: (retries) => retryMs(retries, random),
    },
  });
}
