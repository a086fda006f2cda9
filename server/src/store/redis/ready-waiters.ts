import { storeUnavailable } from '../store-error.ts';

/** Callers that wait until a connection, or all connections of a cluster, are ready. */
export interface ReadyWaiters {
  /** Rejects with `store_unavailable` after the time. */
  wait(timeoutMs: number, internal: string): Promise<void>;
  /** Releases all callers. */
  ready(): void;
}

export function createReadyWaiters(): ReadyWaiters {
  const waiting = new Set<() => void>();
  return {
    wait: (timeoutMs, internal) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(ready);
          reject(storeUnavailable('redis', internal));
        }, timeoutMs);
        const ready = () => {
          clearTimeout(timer);
          waiting.delete(ready);
          resolve();
        };
        waiting.add(ready);
      }),
    ready() {
      for (const resolve of waiting) resolve();
    },
  };
}
