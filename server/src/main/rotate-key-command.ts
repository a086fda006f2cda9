import { resealSecondFactors } from '../edge/identity/reseal-second-factors.ts';
import { createFollowingClock } from '../kit/clock.ts';
import { createLog, type Log } from '../kit/log.ts';
import { createEmbeddedDatabase } from '../store/embedded/embedded-postgres.ts';
import type { DatabaseHandle } from '../store/postgres/database-handle.ts';
import { assertSchemaKnown } from '../store/postgres/migrate.ts';
import { createDatabase } from '../store/postgres/postgres.ts';
import { readEnvironment } from './environment.ts';
import { sealerOf } from './runtime.ts';
import { createOwnSecrets, type OwnSecretsOptions } from './secrets/own-secrets.ts';
import {
  finishRotation,
  goBack,
  type RotateDeps,
  resetSecrets,
  rotationStatus,
  startUsing,
} from './secrets/rotate-secrets.ts';
import { keepSecrets } from './start-secrets.ts';

type Source = Readonly<Record<string, string | undefined>>;

/**
 * `relay rotate-key`. Needs the database and the secrets, with the settings of one of the deployment's processes. Runs beside them,
 * except on a data directory, which one process may use at a time. Throws `EnvironmentError`, `DirectoryInUseError`, `SecretsError`
 * and `RotationRefusedError`.
 */
export function rotationCommands(source: Source, directory: string | null) {
  const use = <T>(work: (deps: RotateDeps) => Promise<T>) =>
    directory === null ? onServer(source, work) : inDirectory(source, directory, work);
  return {
    status: () => use(rotationStatus),
    go: () => use(startUsing),
    back: () => use(goBack),
    finish: (options: { readonly loseKeys: boolean }) => use((deps) => finishRotation(deps, options)),
    reset: () => use(resetSecrets),
  };
}

async function onServer<T>(source: Source, work: (deps: RotateDeps) => Promise<T>): Promise<T> {
  const environment = readEnvironment(source, 'worker');
  const log = createLog('warn', process.stderr);
  const url = environment.DATABASE_DIRECT_URL ?? environment.DATABASE_URL ?? '';
  const database = createDatabase({ url, log, applicationName: 'relay-rotate-key' });
  const options = { environment, roleName: 'worker', keptAuthSecret: null, isEmbedded: false } as const;
  return onDatabase(database, options, log, work);
}

async function inDirectory<T>(
  source: Source,
  directory: string,
  work: (deps: RotateDeps) => Promise<T>,
): Promise<T> {
  const isGiven = (name: string) => (source[name]?.trim() ?? '') !== '';
  const kept = await keepSecrets(directory, { isGiven, isUsed: true, hasTokens: true });
  const environment = readEnvironment({ ...kept.values, ...source }, 'all', 'embedded');
  const log = createLog('warn', process.stderr);
  const clock = createFollowingClock();
  const database = await createEmbeddedDatabase({ directory, log, clock });
  const keptAuthSecret = kept.values.RELAY_AUTH_SECRET ?? null;
  const options = { environment, roleName: 'all', keptAuthSecret, isEmbedded: true } as const;
  return onDatabase(database, options, log, work);
}

async function onDatabase<T>(
  database: DatabaseHandle,
  options: Omit<OwnSecretsOptions, 'sealer' | 'nowMs'>,
  log: Log,
  work: (deps: RotateDeps) => Promise<T>,
): Promise<T> {
  try {
    await database.withSession((session) => assertSchemaKnown(session));
    const { db } = database;
    const sealer = sealerOf(options.environment);
    const secrets = createOwnSecrets({ ...options, sealer, nowMs: Date.now });
    const reseal = () => resealSecondFactors({ db, secrets: secrets.session, log });
    return await work({ db, secrets, log, resealSecondFactors: reseal });
  } finally {
    await database.close();
  }
}
