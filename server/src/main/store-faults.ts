import type { Health } from '../http/health.ts';
import type { StoreFault, StoreFaults, StoreName, StoreOperation } from '../store/store-health.ts';
import { type Configuration, isPostgresqlUp } from './open-configuration.ts';
import type { Stores } from './open-stores.ts';
import type { Runtime } from './runtime.ts';
import type { RunningAdmission } from './start-admission.ts';

export interface FaultParts {
  readonly runtime: Pick<Runtime, 'clock'>;
  readonly stores: Pick<Stores, 'redis' | 'fault'>;
  readonly configuration: Pick<Configuration, 'snapshots'>;
}

/** What follows for requests, by what fails. */
const DETAILS: Readonly<Record<StoreName, Readonly<Record<StoreOperation, string>>>> = {
  postgresql: {
    read: 'Management returns 503. Inference uses the last known configuration. Usage waits in Redis.',
    write: 'Changes in management return 503. Inference continues. Usage waits in Redis.',
  },
  redis: {
    read: 'Requests that are subject to a limit get 503. Relay serves the others and keeps their usage on disk.',
    write:
      'Requests that are subject to a limit get 503. Relay serves the others and keeps their usage on disk.',
  },
};

/** From memory. What a call or a probe met comes before the age of the last poll, which has no reason. */
export function storeFaultsOf({ runtime, stores, configuration }: FaultParts): StoreFaults {
  const isPolled = isPostgresqlUp(configuration, runtime.clock.nowMs());
  const silent: StoreFault | null = isPolled ? null : { operation: 'read', reason: 'no response' };
  return {
    postgresql: stores.fault('postgresql') ?? silent,
    ...(stores.redis !== null && { redis: stores.fault('redis') }),
  };
}

export function healthChecksOf(parts: FaultParts): Health['checks'] {
  const faults = Object.entries(storeFaultsOf(parts)) as [StoreName, StoreFault | null][];
  return Object.fromEntries(
    faults.map(([store, fault]) => [
      store,
      fault === null
        ? { status: 'ok' }
        : { status: 'unavailable', ...fault, detail: DETAILS[store][fault.operation] },
    ]),
  );
}

interface LedgerParts {
  readonly stores: Pick<Stores, 'backlog'>;
  readonly admission: Pick<RunningAdmission, 'spoolState'>;
}

/** Whether usage reaches the ledger, as far as this process knows: what it does not know is null. */
export function ledgerHealthOf({ stores, admission }: LedgerParts): NonNullable<Health['ledger']> {
  const state = stores.backlog.state();
  return {
    workers: stores.backlog.workers(),
    waiting_entries: state?.entries ?? null,
    lag_ms: state === null ? null : Math.round(state.lagMs),
    spooled_entries: admission.spoolState().waiting,
  };
}
