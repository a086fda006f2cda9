import { randomUUIDv7 } from 'node:crypto';
import { createFollowingClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { type Replayed, replayUsage } from '../metering/replay-usage.ts';
import { readDeploymentId } from '../store/deployment/identity.ts';
import { createEmbeddedDatabase } from '../store/embedded/embedded-postgres.ts';
import { databaseTimeMs } from '../store/postgres/database-time.ts';
import { createDatabase } from '../store/postgres/postgres.ts';
import { createSinks } from './create-sinks.ts';
import { readEnvironment } from './environment.ts';
import { sealerOf } from './runtime.ts';
import { keepSecrets } from './start-secrets.ts';

type Source = Readonly<Record<string, string | undefined>>;

/**
 * `relay usage replay`. Needs the database and the master key, with the settings of the deployment. Runs beside it, except on a data
 * directory, which one process may use at a time. Throws `EnvironmentError`, `DirectoryInUseError` and `SecretsError`.
 */
export async function replayRefusedUsage(source: Source, directory: string | null): Promise<Replayed> {
  const environment =
    directory === null
      ? readEnvironment(source, 'worker')
      : readEnvironment({ ...(await secretsOf(directory, source)), ...source }, 'all', 'embedded');
  const log = createLog('warn', process.stderr);
  const clock = createFollowingClock();
  const database =
    directory === null
      ? createDatabase({
          url: environment.DATABASE_DIRECT_URL ?? environment.DATABASE_URL ?? '',
          log,
          applicationName: 'relay-usage',
        })
      : await createEmbeddedDatabase({ directory, log, clock });
  try {
    clock.follow(await databaseTimeMs(database.db), clock.monotonicMs());
    const holder = randomUUIDv7();
    const sinks = createSinks({ environment, clock, log }, { processTag: holder.slice(-8), holder });
    const owner = { deploymentId: await readDeploymentId(database.db) };
    const { db } = database;
    return await replayUsage({ db, sealer: sealerOf(environment), clock, sinks: sinks.names, owner });
  } finally {
    await database.close();
  }
}

async function secretsOf(directory: string, source: Source) {
  const isGiven = (name: string) => (source[name]?.trim() ?? '') !== '';
  return (await keepSecrets(directory, { isGiven, isUsed: true, hasTokens: true })).values;
}
