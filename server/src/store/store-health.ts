import type { Clock } from '../kit/clock.ts';
import type { StoreLog } from './store-log.ts';

/** Which half of a store fails: it cannot be reached or read, or it rejects what Relay writes. */
export type StoreOperation = 'read' | 'write';

export interface StoreFault {
  readonly operation: StoreOperation;
  /** In the store's own words. */
  readonly reason: string;
}

export type StoreName = 'postgresql' | 'redis';

/** Of each store of a process; null while it answers and accepts writes. */
export type StoreFaults = Readonly<Partial<Record<StoreName, StoreFault | null>>>;

/** What one process knows of one store, from the calls that it makes anyway and from a probe. */
export interface StoreHealth {
  /** A call failed in a way that says something about the store, and not about the call. */
  failed(operation: StoreOperation, error: unknown): void;
  /** The probe found this half in order. */
  works(operation: StoreOperation): void;
  /** Null while both halves work, as far as is known. */
  fault(): StoreFault | null;
}

const REASON_LENGTH_MAX = 300;
/** Of one outage. */
const REASONS_LOGGED_MAX = 10;

/** Logs each reason of an outage once, and its end. */
export function createStoreHealth(deps: {
  readonly name: 'PostgreSQL' | 'Redis';
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: StoreLog;
  /** How long a failed call outweighs probes, which may not see everything: rows may be on another disk. */
  readonly holdMs?: number;
}): StoreHealth {
  const { name, clock, log, holdMs = 0 } = deps;
  const faults = new Map<StoreOperation, { reason: string; atMs: number }>();
  const logged = new Set<string>();

  return {
    failed(operation, error) {
      const reason = reasonOf(error);
      faults.set(operation, { reason, atMs: clock.monotonicMs() });
      const line = `${operation} ${reason}`;
      if (logged.has(line) || logged.size >= REASONS_LOGGED_MAX) return;
      logged.add(line);
      log.warn({ reason }, `${name} ${operation === 'write' ? 'rejects writes' : 'cannot be used'}`);
    },
    works(operation) {
      const fault = faults.get(operation);
      if (fault === undefined || clock.monotonicMs() - fault.atMs < holdMs) return;
      faults.delete(operation);
      if (faults.size > 0) return;
      logged.clear();
      log.info({}, `${name} accepts reads and writes again`);
    },
    fault() {
      for (const operation of ['read', 'write'] as const) {
        const fault = faults.get(operation);
        if (fault !== undefined) return { operation, reason: fault.reason };
      }
      return null;
    },
  };
}

/** The words of the store: a `store_unavailable` has them as its cause. Numbers that differ from call to call are left out. */
export function reasonOf(error: unknown): string {
  let cause = error;
  while (cause instanceof Error && cause.cause !== undefined) cause = cause.cause;
  const text = cause instanceof Error ? cause.message || cause.name : String(cause);
  return withoutSecrets(text.replace(/ script: \S+, on @user_script:\d+\.?$/, '')).slice(
    0,
    REASON_LENGTH_MAX,
  );
}

/** A URL in a message of a driver may have a password. */
function withoutSecrets(text: string): string {
  return text.replace(/\/\/[^\s/@]*@/g, '//');
}
