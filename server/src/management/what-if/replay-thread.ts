import { Worker } from 'node:worker_threads';
import { durationWords } from '@relay/contract/words';
import { RelayError } from '../../domain/relay-error.ts';
import type { WhatIfInput, WhatIfMessage, WhatIfReplayed } from './what-if-messages.ts';

/** Written so that the build finds the worker and replaces it by the built one. */
const WORKER_FILE = new URL('./what-if-worker.ts', import.meta.url);
const MEMORY_MIB_MAX = 512;
const YOUNG_MIB_MAX = 96;
/** A thread that has not ended by itself this long after its time is ended. */
const GRACE_MS = 10_000;

export interface ReplayThread {
  start(input: WhatIfInput): void;
  /** Requests by arrival, as `readReplayed` gives them. */
  take(json: string): void;
  finish(): Promise<WhatIfReplayed>;
  end(): Promise<void>;
}

/** No one reads this error: the connection is closed. */
export function clientLeft(): RelayError {
  return new RelayError('queue_full', { message: 'The client disconnected, so the replay did not run.' });
}

/** Bounded in memory and time: it fails when it needs more of either, and when its client has disconnected. */
export function startReplayThread(ended: AbortSignal): ReplayThread {
  const worker = new Worker(WORKER_FILE, {
    name: 'what-if',
    // A large young generation: nearly everything that a replay makes is soon garbage.
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MIB_MAX, maxYoungGenerationSizeMb: YOUNG_MIB_MAX },
  });
  const replayed = Promise.withResolvers<WhatIfReplayed>();
  // Avoids an unhandled rejection; `finish` rethrows.
  replayed.promise.catch(() => undefined);
  worker.once('message', (result: WhatIfReplayed) => replayed.resolve(result));
  worker.once('error', (error) => replayed.reject(error));
  worker.once('exit', () => replayed.reject(new Error('the replay ended without a result')));
  const onEnd = () => replayed.reject(clientLeft());
  ended.addEventListener('abort', onEnd, { once: true });
  const post = (message: WhatIfMessage) => {
    if (ended.aborted) throw clientLeft();
    worker.postMessage(message);
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    start(input) {
      post({ kind: 'start', input });
      const endMs = input.tookMsMax + GRACE_MS;
      timer = setTimeout(
        () => replayed.reject(new Error(`the replay took longer than ${durationWords(endMs)}`)),
        endMs,
      );
    },
    take: (json) => post({ kind: 'rows', json }),
    finish() {
      post({ kind: 'finish' });
      return replayed.promise;
    },
    async end() {
      clearTimeout(timer);
      ended.removeEventListener('abort', onEnd);
      await worker.terminate();
    },
  };
}
