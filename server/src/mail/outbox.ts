import type { Letter } from './letter.ts';
import { SENDING_MAX, type SendFailure, type Transport } from './smtp-transport.ts';

/** Messages that one process holds, waiting for a retry or not. */
const HELD_MAX = 1_000;
/** Less than a reset link's 30 minutes in all. */
const RETRY_MS = [1_000, 5_000, 30_000, 120_000, 600_000] as const;

export interface OutboxLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface OutboxDeps {
  readonly transport: Pick<Transport, 'send'>;
  readonly log: OutboxLog;
}

export interface Outbox {
  /** False: the queue is full. Never waits for the mail server. */
  put(letter: Letter): boolean;
  /** Tries once more what waits, then drops the rest. */
  stop(waitMsMax: number): Promise<void>;
}

interface Held {
  readonly letter: Letter;
  tries: number;
  /** Set while it waits for a retry. */
  timer: NodeJS.Timeout | null;
}

/**
 * A bounded queue in memory. It is not stored, because the links in it are secrets: what a process has not delivered when it
 * ends is lost, and the person asks for another link.
 */
export function createOutbox({ transport, log }: OutboxDeps): Outbox {
  const held = new Set<Held>();
  const ready: Held[] = [];
  let sending = 0;
  let isStopping = false;
  let onEmpty: () => void = () => undefined;

  function offer(item: Held): void {
    item.timer = null;
    ready.push(item);
    sendNext();
  }

  function sendNext(): void {
    const item = sending < SENDING_MAX ? ready.shift() : undefined;
    if (item === undefined) return;
    sending += 1;
    item.tries += 1;
    void transport.send(item.letter).then((failure) => {
      sending -= 1;
      const delayMs = logged(log, item, failure, isStopping);
      if (delayMs === null) held.delete(item);
      else item.timer = setTimeout(() => offer(item), delayMs);
      if (held.size === 0) onEmpty();
      sendNext();
    });
  }

  return {
    put(letter) {
      if (isStopping || held.size >= HELD_MAX) {
        log.warn({ kind: letter.kind, held: held.size }, 'mail dropped: the queue is full');
        return false;
      }
      const item: Held = { letter, tries: 0, timer: null };
      held.add(item);
      offer(item);
      return true;
    },
    async stop(waitMsMax) {
      isStopping = true;
      for (const item of held) {
        if (item.timer === null) continue;
        clearTimeout(item.timer);
        offer(item);
      }
      if (held.size > 0) await soon((resolve) => (onEmpty = resolve), waitMsMax);
      if (held.size > 0) log.warn({ lost: held.size }, 'mail dropped: the process is stopping');
    },
  };
}

/** Logs an attempt. Returns when to try again; null when the message is delivered or dropped. */
function logged(log: OutboxLog, item: Held, failure: SendFailure | null, isStopping: boolean): number | null {
  const fields = { kind: item.letter.kind, tries: item.tries };
  if (failure === null) {
    log.info(fields, 'mail sent');
    return null;
  }
  const { code, reply, reason } = failure;
  const delayMs = failure.isFinal || isStopping ? undefined : RETRY_MS[item.tries - 1];
  if (delayMs === undefined) {
    log.warn({ ...fields, code, reply, reason }, 'mail dropped');
    return null;
  }
  log.warn({ ...fields, code, reply, reason, retry_ms: delayMs }, 'mail not sent; will retry');
  return delayMs;
}

async function soon(listen: (resolve: () => void) => void, waitMsMax: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  listen(resolve);
  const timer = setTimeout(resolve, waitMsMax);
  await promise;
  clearTimeout(timer);
}
