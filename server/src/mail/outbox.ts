import type { Letter } from './letter.ts';
import type { SendFailure, Transport } from './smtp-transport.ts';

/** Messages that one process holds, waiting for a retry or not. */
const HELD_MAX = 1_000;
const SENDING_MAX = 4;
/** Less than a reset link's 30 minutes in all. */
const RETRY_MS = [1_000, 5_000, 30_000, 120_000, 600_000] as const;

export interface OutboxLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface Outbox {
  /** False: the queue is full. Never waits for the mail server. */
  put(letter: Letter): boolean;
  /** Tries once more what waits, then drops the rest. */
  stop(waitMsMax: number): Promise<void>;
  readonly held: () => number;
}

interface Held {
  readonly letter: Letter;
  tries: number;
  timer: NodeJS.Timeout | null;
}

/**
 * A bounded queue in memory. It is not stored, because the links in it are secrets: what a process has not delivered when it
 * ends is lost, and the person asks for another link.
 */
export function createOutbox(deps: { readonly transport: Transport; readonly log: OutboxLog }): Outbox {
  const { transport, log } = deps;
  const held = new Set<Held>();
  const ready: Held[] = [];
  let sending = 0;
  let isStopping = false;
  let onEmpty: (() => void) | null = null;

  function settle(item: Held): void {
    held.delete(item);
    if (held.size === 0) onEmpty?.();
  }

  function retryLater(item: Held, failure: SendFailure): void {
    const { kind } = item.letter;
    const delayMs = RETRY_MS[item.tries - 1];
    const fields = {
      kind,
      tries: item.tries,
      code: failure.code,
      reply: failure.reply,
      reason: failure.reason,
    };
    if (failure.isFinal || delayMs === undefined || isStopping) {
      log.warn(fields, 'mail dropped');
      settle(item);
      return;
    }
    log.warn({ ...fields, retry_ms: delayMs }, 'mail not sent; will retry');
    item.timer = setTimeout(() => offer(item), delayMs);
  }

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
      if (failure === null) {
        log.info({ kind: item.letter.kind, tries: item.tries }, 'mail sent');
        settle(item);
      } else {
        retryLater(item, failure);
      }
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
      if (held.size === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      onEmpty = resolve;
      const timer = setTimeout(resolve, waitMsMax);
      await promise;
      clearTimeout(timer);
      if (held.size > 0) log.warn({ lost: held.size }, 'mail dropped: the process ends');
    },
    held: () => held.size,
  };
}
