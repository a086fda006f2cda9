import { RelayError } from '../domain/relay-error.ts';
import type { Log } from '../kit/log.ts';
import { unavailableStore } from '../store/store-error.ts';
import { reasonOf } from '../store/store-health.ts';

/** A start that failed and is in the log. The command prints it no second time. */
export class StartFailedError extends Error {}

const WORDS = {
  postgresql:
    'cannot start: PostgreSQL (DATABASE_URL) is unavailable, and a process that starts has no configuration yet. Start it again when PostgreSQL is back; do not restart processes that run, because they serve without it',
  redis: 'cannot start: Redis (REDIS_URL) is unavailable. Start it again when Redis is back',
} as const;

/** A process that runs serves on without PostgreSQL. One that starts has nothing to serve yet. */
export async function loggingStart<T>(log: Log, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if (!(error instanceof RelayError) || error.code !== 'store_unavailable') throw error;
    const store = unavailableStore(error);
    log.error({ reason: reasonOf(error) }, WORDS[store]);
    throw new StartFailedError(`${store} is unavailable`, { cause: error });
  }
}
