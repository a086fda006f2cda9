import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Outcome, ReportedUsage, RequestLogEntry } from './request-log.ts';

/**
 * One request and its answer. The answering code is strictly sequential, so at most one wait is open at a
 * time, and closing the connection wakes it immediately.
 */
export interface Exchange {
  req: IncomingMessage;
  res: ServerResponse;
  entry: RequestLogEntry;
  closed: boolean;
  wake: (() => void) | null;
  /** The usage the client will have been told once the answer is whole. */
  reportOnCompletion: ReportedUsage | null;
  streamOpened(): void;
  /** Records the end exactly once; called just before the last byte is written, so that a client that has its answer finds it counted. */
  settle(outcome: Outcome): void;
}

export function pause(exchange: Exchange, ms: number): Promise<void> {
  return new Promise((resolve) => {
    if (exchange.closed) return resolve();
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      exchange.wake = null;
      resolve();
    }
    exchange.wake = done;
  });
}

/** Lets the event loop turn, so that what follows leaves in a write of its own. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export function drained(exchange: Exchange): Promise<void> {
  return new Promise((resolve) => {
    if (exchange.closed) return resolve();
    function done(): void {
      exchange.res.removeListener('drain', done);
      exchange.wake = null;
      resolve();
    }
    exchange.res.once('drain', done);
    exchange.wake = done;
  });
}

/** Silence: nothing more is said until the client gives up. */
export function untilClosed(exchange: Exchange): Promise<void> {
  return new Promise((resolve) => {
    if (exchange.closed) return resolve();
    exchange.wake = () => {
      exchange.wake = null;
      resolve();
    };
  });
}

/** Takes the connection away, after everything written so far has been handed to the system. */
export async function cutConnection(exchange: Exchange, reset: boolean): Promise<void> {
  const socket = exchange.res.socket;
  if (socket === null || exchange.closed) return;
  if (socket.writableLength > 0) {
    await new Promise<void>((resolve) => {
      exchange.wake = resolve;
      socket.write('', () => resolve());
    });
  }
  exchange.settle('cut');
  if (reset) socket.resetAndDestroy();
  else socket.destroy();
}
