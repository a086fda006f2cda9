import { once } from 'node:events';
import { MIGRATION_TIMEOUT_MS, migrateUp } from './migrate.ts';
import { silentLog } from './migrated-database.fixture.ts';
import { createDatabase } from './postgres.ts';

/** For tests: a process of its own that migrates the database it is given when it is told to. */
const database = createDatabase({ url: process.argv[2] ?? '', log: silentLog });
process.send?.('ready');
await once(process, 'message');
await database.withSession((session) => migrateUp(session), MIGRATION_TIMEOUT_MS);
await database.close();
process.disconnect();
