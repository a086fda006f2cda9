import { createLog } from '../kit/log.ts';
import {
  MIGRATION_TIMEOUT_MS,
  type MigrationStatus,
  migrateUp,
  migrationStatus,
} from '../store/postgres/migrate.ts';
import { createDatabase } from '../store/postgres/postgres.ts';

/** `relay migrate`, which needs only the database. */
export const migrationCommands = {
  status: (databaseUrl: string): Promise<MigrationStatus> =>
    withDatabase(databaseUrl, (database) => database.withSession((session) => migrationStatus(session))),
  up: (databaseUrl: string): Promise<string[]> =>
    withDatabase(databaseUrl, (database) =>
      database.withSession((session) => migrateUp(session), MIGRATION_TIMEOUT_MS),
    ),
};

async function withDatabase<T>(
  url: string,
  use: (database: ReturnType<typeof createDatabase>) => Promise<T>,
): Promise<T> {
  const database = createDatabase({ url, log: createLog('warn'), applicationName: 'relay-migrate' });
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}
