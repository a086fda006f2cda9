import { durationWords } from '@relay/contract/words';
import { type BreakerState, createBreaker } from '../../kit/breaker.ts';
import type { Clock } from '../../kit/clock.ts';
import { createSendGate } from '../send-gate.ts';
import { storeUnavailable } from '../store-error.ts';
import { createDeadlineQueue } from './deadline-queue.ts';
import { createReadyWaiters } from './ready-waiters.ts';
import { COMMANDS_MAX, type ConnectionOptions, createRedisConnection } from './redis-connection.ts';
import { createSendCommand, QUEUED_TIMES_MAX } from './send-command.ts';

export interface RedisNodeOptions extends ConnectionOptions {
  readonly clock: Clock;
  /** How long the server may be silent: a command fails after this, unless replies to others are arriving. */
  readonly commandTimeoutMs?: number;
  readonly breaker?: { readonly failuresMax: number; readonly openMs: number };
}

export interface RedisState {
  readonly ready: boolean;
  readonly breaker: BreakerState;
}

/** One server: a connection with a circuit breaker in front of it. */
export interface RedisNode {
  /** The server's host, for replies that leave it out. */
  readonly host: string;
  readonly url: string;
  /** `asking` admits the command at a server that the slot is moving to. */
  run(command: readonly string[], asking?: boolean): Promise<unknown>;
  state(): RedisState;
  whenReady(timeoutMs: number): Promise<void>;
  close(): void;
}

function ignore(): void {}

export const COMMAND_TIMEOUT_MS = 250;
/** Commands that one process has sent to one server without a reply; the others wait in the gate. */
const UNANSWERED_MAX = 16;

export function createRedisNode(
  url: string,
  options: RedisNodeOptions,
  onReady: () => void = () => undefined,
): RedisNode {
  const { clock, log, commandTimeoutMs = COMMAND_TIMEOUT_MS, commandsMax = COMMANDS_MAX } = options;
  const deadlines = createDeadlineQueue({ clock, timeoutMs: commandTimeoutMs });
  const gate = createSendGate({
    runningMax: UNANSWERED_MAX,
    waitingMax: commandsMax,
    waiting: { clock, msMax: commandTimeoutMs * QUEUED_TIMES_MAX },
  });
  const waiters = createReadyWaiters();
  const { host, hostname } = new URL(url);
  const breaker = createBreaker({
    clock,
    ...(options.breaker ?? { failuresMax: 5, openMs: 500 }),
    onChange(state) {
      log.warn({ state, server: host }, 'Redis circuit breaker changed state');
      if (state !== 'open') return;
      // A silent connection may be dead without having closed. A new one rejects what waits on the old, and its
      // handshake proves that Redis answers again.
      if (connection.client().isReady) connection.replace();
      gate.clear();
    },
  });
  const connection = createRedisConnection(url, options, () => {
    breaker.reset();
    waiters.ready();
    onReady();
  });
  const { client } = connection;
  const { onFault = ignore, onRejectedWrite = ignore } = options;
  const told = { onSilence: onFault, onRejectedWrite };
  const send = createSendCommand({ client, clock, breaker, gate, deadlines, commandTimeoutMs, ...told });

  return {
    host: hostname,
    url,
    run(command, asking = false) {
      if (!breaker.tryPass()) return Promise.reject(storeUnavailable('redis', 'the circuit breaker is open'));
      return new Promise((resolve, reject) => {
        gate.enter(
          () => send(command, asking, resolve, reject),
          () => {
            // A probe that was never sent ends, so that the next one may be.
            if (breaker.state() !== 'closed') breaker.failed();
            reject(storeUnavailable('redis', 'too many commands are waiting, or the circuit breaker opened'));
          },
        );
      });
    },
    state: () => ({ ready: client().isReady, breaker: breaker.state() }),
    whenReady: (timeoutMs) =>
      client().isReady
        ? Promise.resolve()
        : waiters.wait(timeoutMs, `no connection within ${durationWords(timeoutMs)}`),
    close() {
      connection.close();
      gate.clear();
      deadlines.clear();
    },
  };
}
