import type { Scripts } from './scripts.ts';
import type { StoreClock } from './store-clock.ts';
import type { OperationRelease } from './wire.ts';

export interface WakesDeps {
  readonly hear: Scripts['hear'];
  readonly gatewayId: string;
  readonly storeClock: StoreClock;
  readonly onRelease: (release: OperationRelease, agoMs: number) => void;
  readonly onMissed: (prefix: string) => void;
}

/** Releases of this process's waiters that another gateway's step decided. */
export function createWakes({ hear, gatewayId, storeClock, onRelease, onMissed }: WakesDeps) {
  const subscribed = new Map<string, Promise<unknown>>();
  const active = new Set<string>();

  function read(message: string): void {
    const [atMs, operationId = '', ...answer] = message.split('\n');
    onRelease({ operationId, answer }, storeClock.agoMs(Number(atMs)));
  }

  return {
    /**
     * What an ask has to wait for: no request waits in a shard before this process hears the releases there. Asks keep their order, so those that
     * come after the first that may wait wait for it as well. Null: nothing.
     */
    before(prefix: string, mayWait: boolean): Promise<unknown> | null {
      if (active.has(prefix)) return null;
      let subscription = subscribed.get(prefix) ?? null;
      if (subscription === null && mayWait) {
        const channel = `${prefix}wake:${gatewayId}`;
        subscription = hear(channel, read, () => onMissed(prefix)).then(() => active.add(prefix));
        subscribed.set(prefix, subscription);
      }
      return subscription;
    },
  };
}
