import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Route } from '@relay/contract';
import type { Log } from '../kit/log.ts';

/** What may be made ahead of a client that reads slowly. */
const READ_AHEAD_BYTES = 16 * 1024;
const LOOK_MS = 500;
/** How long an ended stream may take to reach its client before the connection is cut. */
const PARTING_MS = 1_000;

export interface AnswerStreamParts {
  readonly response: ServerResponse;
  readonly requestId: string;
  /** An event stream has no end of its own; anything else is a file, which is whole or broken off. */
  readonly endless: boolean;
  readonly draining: () => boolean;
  /** Rejects once the caller would be refused, or be shown something else. */
  readonly checkAccess: () => Promise<void>;
  readonly checkAccessMs: number;
  readonly log: Log;
}

export interface AnswerStream {
  /** Aborted when nobody is to be told anything more. Whoever makes the chunks stops waiting then. */
  readonly ended: AbortSignal;
  readonly body: (chunks: AsyncIterable<string>) => Readable;
}

export function isStreamed({ success }: Pick<Route, 'success'>): boolean {
  return success.contentType === 'text/event-stream' || success.contentType === 'text/csv';
}

/**
 * An answer that goes on for as long as its client reads: made no faster than it is read, and over when the client leaves,
 * when its access ends or, for an event stream, when the process drains. A file is broken off and never ended early, so that
 * nobody takes a part of it for the whole.
 */
export function openAnswerStream(parts: AnswerStreamParts): AnswerStream {
  const { response, endless, log, requestId } = parts;
  const controller = new AbortController();
  let parting: NodeJS.Timeout | undefined;
  let checking = false;
  let sinceCheckMs = 0;

  function end(): void {
    if (controller.signal.aborted) return;
    controller.abort();
    if (!endless) response.destroy();
    else parting = setTimeout(() => response.destroy(), PARTING_MS);
  }

  async function check(): Promise<void> {
    checking = true;
    try {
      await parts.checkAccess();
    } catch {
      end();
    }
    checking = false;
  }

  const lookMs = Math.min(LOOK_MS, parts.checkAccessMs);
  const timer = setInterval(() => {
    sinceCheckMs += lookMs;
    if (endless && parts.draining()) end();
    else if (sinceCheckMs >= parts.checkAccessMs && !checking) {
      sinceCheckMs = 0;
      void check();
    }
  }, lookMs);
  response.once('close', () => {
    clearInterval(timer);
    clearTimeout(parting);
    controller.abort();
  });

  async function* guarded(chunks: AsyncIterable<string>): AsyncGenerator<string> {
    try {
      yield* chunks;
    } catch (error) {
      if (!controller.signal.aborted && response.headersSent)
        log.error({ err: error, request_id: requestId }, 'a streamed answer broke off');
      throw error;
    }
  }

  return {
    ended: controller.signal,
    body: (chunks) => Readable.from(guarded(chunks), { objectMode: false, highWaterMark: READ_AHEAD_BYTES }),
  };
}
