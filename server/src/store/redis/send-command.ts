import { ErrorReply } from '@redis/client';
import { durationWords } from '@relay/contract/words';
import type { Breaker } from '../../kit/breaker.ts';
import type { Clock } from '../../kit/clock.ts';
import { isRejectedWrite } from '../rejected-write.ts';
import type { SendGate } from '../send-gate.ts';
import { storeUnavailable } from '../store-error.ts';
import type { DeadlineQueue } from './deadline-queue.ts';
import type { RedisClient } from './redis-connection.ts';

export interface SendDeps {
  readonly client: () => RedisClient;
  readonly clock: Clock;
  readonly breaker: Breaker;
  /** A command has entered it before it is sent. */
  readonly gate: Pick<SendGate, 'leave'>;
  readonly deadlines: Pick<DeadlineQueue, 'add'>;
  readonly commandTimeoutMs: number;
  readonly onSilence: (error: unknown) => void;
  readonly onRejectedWrite: (error: unknown) => void;
}

export type SendCommand = (
  command: readonly string[],
  /** Sends ASKING first, which admits the command at a server that the slot is moving to. */
  asking: boolean,
  resolve: (reply: unknown) => void,
  reject: (error: unknown) => void,
) => void;

/** A command behind many others gets this many times its deadline, to be sent and once more to be answered, as long as those are answered. */
export const QUEUED_TIMES_MAX = 8;
/** Replies that mean "not now" rather than "wrong command". */
const UNAVAILABLE_REPLY =
  /^(LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|READONLY|TRYAGAIN|OOM|MISCONF|NOREPLICAS|NOAUTH|WRONGPASS)\b/;

/** Sends a command and settles it by its reply or its deadline. Reports both outcomes to the breaker and the gate. */
export function createSendCommand(deps: SendDeps): SendCommand {
  const { clock, breaker, gate, deadlines, commandTimeoutMs } = deps;
  let answeredMs = Number.NEGATIVE_INFINITY;

  return (command, asking, resolve, reject) => {
    const sentMs = clock.monotonicMs();
    let deadline = deadlines.add(expire);
    /** Replies arrive in order: while others arrive, this command is queued and the server is not silent. */
    function expire(): void {
      const nowMs = clock.monotonicMs();
      if (nowMs - answeredMs < commandTimeoutMs && nowMs - sentMs < commandTimeoutMs * QUEUED_TIMES_MAX) {
        deadline = deadlines.add(expire);
        return;
      }
      breaker.failed();
      gate.leave();
      const silence = `no response within ${durationWords(commandTimeoutMs)}`;
      deps.onSilence(new Error(silence));
      reject(storeUnavailable('redis', silence));
    }
    /** False when the deadline has already failed the command. */
    function ended(): boolean {
      if (deadline.done) return false;
      deadline.done = true;
      gate.leave();
      return true;
    }
    const client = deps.client();
    // Applies to the next command on the connection, which is the one below.
    if (asking) client.sendCommand(['ASKING']).catch(() => undefined);
    client.sendCommand(command).then(
      (reply) => {
        answeredMs = clock.monotonicMs();
        if (!ended()) return;
        breaker.succeeded();
        resolve(reply);
      },
      (error: unknown) => {
        const answered = error instanceof ErrorReply;
        if (answered) answeredMs = clock.monotonicMs();
        if (answered && isRejectedWrite(error)) deps.onRejectedWrite(error);
        if (!ended()) return;
        if (answered) breaker.succeeded();
        else breaker.failed();
        reject(answered && !UNAVAILABLE_REPLY.test(error.message) ? error : storeUnavailable('redis', error));
      },
    );
  };
}
