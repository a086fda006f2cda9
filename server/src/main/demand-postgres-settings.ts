import type { HealthReport } from '@relay/contract';
import type { Log } from '../kit/log.ts';
import type { DatabaseHandle } from '../store/postgres/database-handle.ts';
import { PoolerError } from '../store/postgres/database-over-pools.ts';
import { type PostgresSettings, readPostgresSettings } from '../store/postgres/postgres-settings.ts';
import { certificateFault } from '../store/store-error.ts';
import { EnvironmentError } from './environment.ts';

const VERSION_MIN = 150_000;
const READ_EVERY_MS = 60_000;

type Reported = NonNullable<HealthReport['postgresql_settings']>;

export interface WatchedPostgres {
  /** Null before PostgreSQL has told them. */
  state(): Reported | null;
  stop(): void;
}

export interface PostgresParts {
  readonly database: DatabaseHandle;
  /** Null without a replica for statistics. */
  readonly replica: DatabaseHandle | null;
  readonly isPooled: boolean;
  readonly log: Log;
}

/**
 * Rejects addresses that cannot work: an unknown certificate, a pooler where a session is needed, a replica, an old version. A PostgreSQL
 * that does not answer is left to the migration, which reports it.
 */
export async function demandPostgresSettings(parts: PostgresParts): Promise<WatchedPostgres> {
  const { database, replica, isPooled, log } = parts;
  const direct = isPooled ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL';
  await demandReachable(direct, () => database.withSession(async () => undefined), isPooled);
  if (isPooled) await demandReachable('DATABASE_URL', () => readPostgresSettings(database.db), false);
  if (replica !== null) {
    const error = await demandReachable('DATABASE_READ_URL', () => readPostgresSettings(replica.db), false);
    if (error !== null)
      log.warn({ err: error }, 'the database at DATABASE_READ_URL does not respond; statistics need it');
  }
  let known = await read(database, isPooled).catch(() => null);
  if (known !== null) demandUsable(known.settings);
  for (const line of known === null ? [] : adviceOn(known.reported)) log.warn({}, line);
  async function readAgain(): Promise<void> {
    known = await read(database, isPooled);
  }
  // The configuration poll logs outages.
  const timer = setInterval(() => void readAgain().catch(() => undefined), READ_EVERY_MS).unref();
  return { state: () => known?.reported ?? null, stop: () => clearInterval(timer) };
}

async function read({ db }: DatabaseHandle, isPooled: boolean) {
  const settings = await readPostgresSettings(db);
  const { unsafe, missingTimeouts } = settings;
  // Only what `relay doctor` needs, because the health report is public.
  const reported: Reported = {
    pooled: isPooled,
    unsafe: [...unsafe],
    missing_timeouts: [...missingTimeouts],
  };
  return { settings, reported };
}

/** Answers what went wrong, unless it can never work. */
async function demandReachable(
  name: string,
  use: () => Promise<unknown>,
  isPooled: boolean,
): Promise<unknown> {
  try {
    await use();
    return null;
  } catch (error) {
    if (error instanceof PoolerError)
      throw new EnvironmentError(
        isPooled
          ? 'DATABASE_DIRECT_URL also points to a connection pooler. Set it to the address of PostgreSQL itself.'
          : error.message,
      );
    const fault = certificateFault(error);
    if (fault !== null)
      throw new EnvironmentError(
        `${name}: Relay doesn’t trust PostgreSQL’s certificate: ${fault}. In the URL, add \`sslrootcert=/path/ca.pem\` with the CA that signed it, and use the host name in the certificate.`,
      );
    return error;
  }
}

function demandUsable({ version, isReplica }: PostgresSettings): void {
  if (version < VERSION_MIN)
    throw new EnvironmentError(
      `PostgreSQL (DATABASE_URL) is version ${Math.floor(version / 10_000)}. Relay needs 15 or later.`,
    );
  if (isReplica)
    throw new EnvironmentError(
      'PostgreSQL (DATABASE_URL) is a replica, which accepts no writes. Set DATABASE_URL to the primary. To use a replica for statistics, set DATABASE_READ_URL.',
    );
}

function adviceOn({ unsafe, missing_timeouts: missing }: Reported): string[] {
  const lines: string[] = [];
  if (unsafe.length > 0) {
    const off = unsafe.length === 1 ? 'is off; turn it on' : 'are off; turn them on';
    lines.push(`PostgreSQL can lose committed requests in a crash: ${unsafe.join(' and ')} ${off}`);
  }
  if (missing.length > 0)
    lines.push(
      `sessions behind the pooler have no ${missing.join(', ')}; set ${missing.length === 1 ? 'it' : 'them'} for the database user with the ALTER ROLE statements that \`relay doctor\` prints`,
    );
  return lines;
}
