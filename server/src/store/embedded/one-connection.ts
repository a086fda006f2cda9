import { AsyncLocalStorage } from 'node:async_hooks';
import { type ConnectionProvider, Kysely, PostgresDialect, type PostgresPool } from 'kysely';
import type { ConnectionGuard } from '../postgres/database-over-pools.ts';
import type { Database } from '../postgres/schema.ts';

/** A caller that holds the one connection and asks for another would wait for itself forever. This is a defect in the code. */
export class ConnectionHeldError extends Error {
  override readonly name = 'ConnectionHeldError';
  constructor() {
    super('the caller asked for a connection but already holds the only one of the embedded database');
  }
}

/** Detects such a caller. Work started inside a transaction counts as part of it while the transaction lasts. */
export function createOneConnectionGuard(): ConnectionGuard {
  const holders = new AsyncLocalStorage<{ held: boolean }>();

  async function holding<T>(use: () => Promise<T>): Promise<T> {
    if (holders.getStore()?.held === true) throw new ConnectionHeldError();
    const holder = { held: true };
    try {
      return await holders.run(holder, use);
    } finally {
      holder.held = false;
    }
  }

  function kysely(pool: PostgresPool): Kysely<Database> {
    const dialect = new PostgresDialect({ pool });
    const config = { dialect };
    const executor = new Kysely<Database>(config).getExecutor();
    const provider: ConnectionProvider = {
      provideConnection: (consumer, options) => holding(() => executor.provideConnection(consumer, options)),
    };
    return new Kysely<Database>({
      config,
      dialect,
      // Begins and ends transactions on connections that the executor provides.
      driver: dialect.createDriver(),
      executor: executor.withConnectionProvider(provider),
    });
  }

  return { kysely, holding };
}
