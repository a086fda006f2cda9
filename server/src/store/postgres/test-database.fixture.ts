import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../kit/clock.ts';
import { createEmbeddedDatabase } from '../embedded/embedded-postgres.ts';
import { MIGRATION_TIMEOUT_MS, MIGRATIONS_DIRECTORY, migrateUp } from './migrate.ts';
import { createDatabase, type DatabaseHandle, type DatabaseOptions } from './postgres.ts';

/** Embedded databases that are open in this process: whoever asks for one a second time gets the same. */
const opened = new Map<string, { handle: Promise<DatabaseHandle>; users: number }>();

/** For tests: the database at an address of the testbed's `freshDatabase`, on whichever store the tests run. */
export async function openTestDatabase(options: DatabaseOptions): Promise<DatabaseHandle> {
  if (!options.url.startsWith('file:')) return createDatabase(options);
  const directory = fileURLToPath(options.url);
  const known = opened.get(directory) ?? { handle: openEmbedded(directory, options), users: 0 };
  opened.set(directory, known);
  known.users += 1;
  const handle = await known.handle;
  let closed = false;
  return {
    ...handle,
    async close() {
      if (closed) return;
      closed = true;
      known.users -= 1;
      if (known.users > 0) return;
      opened.delete(directory);
      await handle.close();
    },
  };
}

/** For tests: an embedded database with the whole schema, in that directory. */
export async function openEmbedded(
  directory: string,
  { log }: Pick<DatabaseOptions, 'log'>,
): Promise<DatabaseHandle> {
  if (!existsSync(join(directory, 'postgres')))
    await cp(join(await template(log), 'postgres'), join(directory, 'postgres'), { recursive: true });
  return createEmbeddedDatabase({ directory, log, clock: systemClock });
}

/** Making a database takes seconds and copying one does not: there is one to copy for each state of the migrations. */
async function template(log: DatabaseOptions['log']): Promise<string> {
  const hash = createHash('sha256');
  for (const name of readdirSync(MIGRATIONS_DIRECTORY).sort())
    hash.update(name).update(readFileSync(join(MIGRATIONS_DIRECTORY, name)));
  const cache = join(import.meta.dirname, '../../../../.cache/embedded');
  const finished = join(cache, hash.digest('hex').slice(0, 16));
  if (existsSync(finished)) return finished;
  const begun = `${finished}.${process.pid}`;
  await mkdir(begun, { recursive: true });
  const database = await createEmbeddedDatabase({ directory: begun, log, clock: systemClock });
  await database.withSession((session) => migrateUp(session), MIGRATION_TIMEOUT_MS);
  await database.close();
  await rename(begun, finished).catch(async (error: NodeJS.ErrnoException) => {
    // Another process was quicker.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    await rm(begun, { recursive: true });
  });
  return finished;
}
