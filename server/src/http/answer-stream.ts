import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Route } from '@relay/contract';
import type { Log } from '../kit/log.ts';

/** How far the handler may run ahead of a client that reads slowly. */
const READ_AHEAD_BYTES = 16 * 1024;
const LOOK_MS = 500;
/** How long an ended stream may take to reach its client before the connection is cut off. */
const PARTING_MS = 1_000;

export interface AnswerStreamParts {
  readonly response: ServerResponse;
  readonly requestId: string;
  /** An event stream has no end of its own. Anything else is a file, which is either complete or broken off. */
  readonly endless: boolean;
  readonly draining: () => boolean;
  /** Rejects when the caller has lost access, or would now see something else. */
  readonly checkAccess: () => Promise<void>;
  readonly checkAccessMs: number;
  readonly log: Log;
}

export interface AnswerStream {
  /** Aborted when the stream ends. The handler then stops producing chunks. */
  readonly ended: AbortSignal;
  readonly body: (chunks: AsyncIterable<string>) => Readable;
}

export function isStreamed({ success }: Pick<Route, 'success'>): boolean {
  return success.contentType === 'text/event-stream' || success.contentType === 'text/csv';
}

/**
 * A streamed answer: produced no faster than the client reads, and ended when the client disconnects, its access ends or, for
 * an event stream, the process drains. A file is broken off and never ended early, so that a client cannot take a part of it
 * for the complete file.
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
        log.error({ err: error, request_id: requestId }, 'a streamed response was interrupted');
      throw error;
    }
  }

  return {
    ended: controller.signal,
    body: (chunks) => Readable.from(guarded(chunks), { objectMode: false, highWaterMark: READ_AHEAD_BYTES }),
  };
}
