import { Worker } from 'node:worker_threads';
import type { StoreLog } from '../store-log.ts';
import type { EngineAnswer, EngineRequest, EngineSettings } from './engine-messages.ts';

/** PostgreSQL in a thread of this process: one session, which takes one message at a time. */
export interface Engine {
  /** Opens the directory and recovers from a crash. Replaces a thread that was lost. */
  start(): Promise<void>;
  /** Takes whole messages of the wire protocol and returns PostgreSQL's whole answer. */
  run(message: Uint8Array): Promise<Uint8Array>;
  /** Ends the running statement by ending the thread; nothing else can. The next start recovers, as after a crash. */
  interrupt(reason: string): void;
  close(): Promise<void>;
}

/** Written so that the build finds the worker and replaces it by the built one. */
const WORKER_FILE = new URL('./engine-worker.ts', import.meta.url);
const CLOSE_MS_MAX = 10_000;

export function createEngine(settings: EngineSettings, log: StoreLog): Engine {
  let thread: EngineThread | null = null;
  /** Settles when the last thread that failed has exited. */
  let ending: Promise<void> = Promise.resolve();
  let lastId = 0;
  let closed = false;

  function begin(): EngineThread {
    const begun = startThread(settings, log, () => {
      if (thread !== begun) return;
      thread = null;
      ending = begun.over;
    });
    return begun;
  }

  return {
    async start() {
      // Two threads on one directory would destroy it, so the old one must have exited.
      await ending;
      if (closed) throw new Error('Client was closed: the embedded PostgreSQL');
      thread ??= begin();
      await thread.opened;
    },
    run(message) {
      if (thread === null)
        return Promise.reject(new Error('Connection terminated: the embedded PostgreSQL is not running'));
      lastId += 1;
      return thread.ask(lastId, message);
    },
    interrupt(reason) {
      if (thread === null) return;
      log.warn({ reason }, 'restarting the embedded PostgreSQL');
      thread.fail(new Error(`Connection terminated: ${reason}`));
    },
    async close() {
      closed = true;
      if (thread === null) return ending;
      await thread.close();
      await ending;
    },
  };
}

interface EngineThread {
  readonly opened: Promise<void>;
  /** Settles when the database is closed or the thread has exited. */
  readonly over: Promise<void>;
  ask(id: number, bytes: Uint8Array): Promise<Uint8Array>;
  /** Fails everything that waits for an answer, and ends the thread. */
  fail(error: Error): void;
  /** Shuts PostgreSQL down cleanly, within a bounded time. */
  close(): Promise<void>;
}

/** `onFailed` runs before anything that waits for the thread is rejected. */
function startThread(settings: EngineSettings, log: StoreLog, onFailed: () => void): EngineThread {
  const worker = new Worker(WORKER_FILE, { workerData: settings, name: 'postgresql' });
  const opened = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const waiting = new Map<number, PromiseWithResolvers<Uint8Array>>();

  function fail(error: Error): void {
    onFailed();
    opened.reject(error);
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
    void worker.terminate();
  }

  // Avoids an unhandled rejection; `start` rethrows.
  opened.promise.catch(() => undefined);
  worker.on('message', (answer: EngineAnswer) => {
    if ('ready' in answer) opened.resolve();
    else if ('refused' in answer) {
      fail(new Error(`can’t open the database in ${settings.directory}: ${answer.refused}`));
    } else if ('id' in answer) {
      waiting.get(answer.id)?.resolve(answer.bytes);
      waiting.delete(answer.id);
    } else over.resolve();
  });
  worker.on('error', (error) => {
    log.warn({ err: error }, 'the embedded PostgreSQL failed; it restarts when it is needed');
    fail(error);
  });
  worker.on('exit', () => {
    fail(new Error('Connection terminated: the embedded PostgreSQL has ended'));
    over.resolve();
  });

  return {
    opened: opened.promise,
    over: over.promise,
    ask(id, bytes) {
      const answered = Promise.withResolvers<Uint8Array>();
      waiting.set(id, answered);
      worker.postMessage({ id, bytes } satisfies EngineRequest);
      return answered.promise;
    },
    fail,
    async close() {
      worker.postMessage({ close: true } satisfies EngineRequest);
      const timer = setTimeout(() => void worker.terminate(), CLOSE_MS_MAX);
      await over.promise;
      clearTimeout(timer);
      await worker.terminate();
    },
  };
}
