import { Worker } from 'node:worker_threads';
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

/** Bounded in memory and time: it fails when it needs more of either. */
export function startReplayThread(): ReplayThread {
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
  const post = (message: WhatIfMessage) => worker.postMessage(message);
  let timer: NodeJS.Timeout | undefined;
  return {
    start(input) {
      post({ kind: 'start', input });
      const endMs = input.tookMsMax + GRACE_MS;
      timer = setTimeout(() => replayed.reject(new Error(`the replay took longer than ${endMs} ms`)), endMs);
    },
    take: (json) => post({ kind: 'rows', json }),
    finish() {
      post({ kind: 'finish' });
      return replayed.promise;
    },
    async end() {
      clearTimeout(timer);
      await worker.terminate();
    },
  };
}
