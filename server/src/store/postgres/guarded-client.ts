import type pg from 'pg';
import { isRejectedWrite } from '../rejected-write.ts';
import { asStoreError, isConnectionLost, storeUnavailable } from '../store-error.ts';
import type { StoreHealth } from '../store-health.ts';
import { type CopyData, copyIn } from './copy-in.ts';

/** A connection whose errors are store errors, and which remembers that it was lost. */
export interface GuardedClient {
  query(query: pg.QueryConfig & { query_timeout?: number }): Promise<pg.QueryResult>;
  copyIn(text: string, data: CopyData): Promise<pg.QueryResult>;
  /** The process that the server named when it accepted the connection. A pooler names one of its own. */
  readonly announcedPid: number | null;
  release(destroy?: boolean): void;
}

/**
 * Turns failures to reach PostgreSQL into store errors, for every query. A connection that failed or fell silent is closed
 * rather than returned to the pool, where the next query would wait behind the lost one.
 */
export async function acquireInTurn(
  pool: pg.Pool,
  endTurn: () => void,
  onFailed: StoreHealth['failed'] = () => undefined,
): Promise<GuardedClient> {
  const client = await pool.connect().catch((error: unknown) => {
    endTurn();
    onFailed('read', error);
    throw storeUnavailable('postgresql', error);
  });
  let lost: unknown;
  // Without a listener, a connection that breaks while it is checked out would end the process.
  const onError = (error: Error) => {
    lost ??= error;
  };
  client.on('error', onError);
  async function guarded<T>(use: () => Promise<T>): Promise<T> {
    if (lost !== undefined) throw storeUnavailable('postgresql', lost);
    try {
      return await use();
    } catch (error) {
      if (isConnectionLost(error)) lost ??= error;
      if (isRejectedWrite(error)) onFailed('write', error);
      else if (isConnectionLost(error)) onFailed('read', error);
      throw asStoreError(error);
    }
  }
  return {
    query: (query) => guarded(() => client.query(query)),
    copyIn: (text, data) => guarded(() => copyIn(client, text, data)),
    announcedPid: (client as { processID?: number | null }).processID ?? null,
    release(destroy) {
      client.off('error', onError);
      client.release(destroy === true || lost !== undefined);
      endTurn();
    },
  };
}
