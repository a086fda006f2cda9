import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { createEmbeddedDatabase } from '../store/embedded/embedded-postgres.ts';
import { type MovedRows, MoveRefusedError, moveData } from '../store/embedded/move/move-data.ts';
import { createDatabase } from '../store/postgres/postgres.ts';

/** `relay migrate --from DIR --to DATABASE_URL`: copies the data of `relay start` to a PostgreSQL server. */
export async function moveOut(asked: string, databaseUrl: string): Promise<MovedRows[]> {
  const directory = resolve(asked);
  const log = createLog('error');
  refuseUnready(directory);
  const source = await createEmbeddedDatabase({ directory, log, clock: systemClock });
  try {
    // Checked again under the lock: the process that held it before may have left usage behind.
    refuseUnready(directory);
    const target = createDatabase({ url: databaseUrl, log, applicationName: 'relay-migrate' });
    try {
      return await moveData(source, target);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

function refuseUnready(directory: string): void {
  const isComplete = existsSync(join(directory, 'postgres', 'PG_VERSION'));
  if (!isComplete || existsSync(join(directory, 'postgres.creating')))
    throw new MoveRefusedError(`${directory} is not a data directory of \`relay start\`.`);
  const spool = join(directory, 'spool');
  const left = existsSync(spool)
    ? readdirSync(spool).filter((name) => statSync(join(spool, name)).size > 0)
    : [];
  if (left.length > 0)
    throw new MoveRefusedError(
      `${directory} has usage that is not in its ledger yet, because the process was killed. Start it once more with ` +
        '`relay start`, stop it with Ctrl+C, and try again.',
    );
}
