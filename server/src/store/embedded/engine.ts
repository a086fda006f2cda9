import { Worker } from 'node:worker_threads';
import type { StoreLog } from '../store-log.ts';
import type { EngineAnswer, EngineRequest, EngineSettings } from './engine-messages.ts';

/** PostgreSQL in a thread of this process: one session, to which one message at a time is said. */
export interface Engine {
  /** Opens the directory, which recovers what a crash has left. A thread that was lost is replaced by a new one. */
  start(): Promise<void>;
  /** Whole messages of the wire protocol, and what PostgreSQL answers to them. */
  run(message: Uint8Array): Promise<Uint8Array>;
  /** Ends the statement that is running, which nothing else can. Undone as after a crash: by recovery. */
  interrupt(reason: string): void;
  close(): Promise<void>;
}

interface Thread {
  readonly worker: Worker;
  readonly opened: Promise<void>;
  readonly waiting: Map<number, PromiseWithResolvers<Uint8Array>>;
  readonly over: Promise<void>;
  fail(error: Error): void;
}

/** Written so that the build finds the worker and puts the built one in its place. */
const WORKER_FILE = new URL('./engine-worker.ts', import.meta.url);
const CLOSE_MS_MAX = 10_000;

export function createEngine(settings: EngineSettings, log: StoreLog): Engine {
  let thread: Thread | null = null;
  let ending: Promise<void> = Promise.resolve();
  let lastId = 0;
  let closed = false;

  function begin(): Thread {
    const worker = new Worker(WORKER_FILE, { workerData: settings, name: 'postgresql' });
    const opened = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const waiting: Thread['waiting'] = new Map();
    const begun: Thread = {
      worker,
      opened: opened.promise,
      over: over.promise,
      waiting,
      fail(error) {
        if (thread === begun) {
          thread = null;
          ending = over.promise;
        }
        opened.reject(error);
        for (const { reject } of waiting.values()) reject(error);
        waiting.clear();
        void worker.terminate();
      },
    };
    // Whoever called `start` hears of it; there may be nobody left.
    opened.promise.catch(() => undefined);
    worker.on('message', (answer: EngineAnswer) => {
      if ('ready' in answer) opened.resolve();
      else if ('refused' in answer) {
        begun.fail(new Error(`the database in ${settings.directory} cannot be opened: ${answer.refused}`));
      } else if ('id' in answer) {
        waiting.get(answer.id)?.resolve(answer.bytes);
        waiting.delete(answer.id);
      } else over.resolve();
    });
    worker.on('error', (error) => {
      log.warn({ err: error }, 'the embedded PostgreSQL failed; it is started again when it is needed');
      begun.fail(error);
    });
    worker.on('exit', () => {
      begun.fail(new Error('Connection terminated: the embedded PostgreSQL has ended'));
      over.resolve();
    });
    return begun;
  }

  return {
    async start() {
      // Two threads on one directory would destroy it: the old one has to be gone.
      await ending;
      if (closed) throw new Error('Client was closed: the embedded PostgreSQL');
      thread ??= begin();
      await thread.opened;
    },
    run(message) {
      if (thread === null)
        return Promise.reject(new Error('Connection terminated: the embedded PostgreSQL is not running'));
      lastId += 1;
      const answered = Promise.withResolvers<Uint8Array>();
      thread.waiting.set(lastId, answered);
      thread.worker.postMessage({ id: lastId, bytes: message } satisfies EngineRequest);
      return answered.promise;
    },
    interrupt(reason) {
      if (thread === null) return;
      log.warn({ reason }, 'the embedded PostgreSQL is interrupted and started again');
      thread.fail(new Error(`Connection terminated: ${reason}`));
    },
    async close() {
      closed = true;
      if (thread === null) return ending;
      const { worker, over } = thread;
      worker.postMessage({ close: true } satisfies EngineRequest);
      const timer = setTimeout(() => void worker.terminate(), CLOSE_MS_MAX);
      await over;
      clearTimeout(timer);
      await worker.terminate();
      await ending;
    },
  };
}
