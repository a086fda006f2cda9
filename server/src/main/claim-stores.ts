import { mkdir } from 'node:fs/promises';
import type { Kysely } from 'kysely';
import type { Log } from '../kit/log.ts';
import type { LedgerOwner } from '../metering/write-entries.ts';
import { claimDirectory } from '../store/deployment/directory-mark.ts';
import { type DeploymentIdentity, foreignMessage, readDeploymentId } from '../store/deployment/identity.ts';
import type { Database } from '../store/postgres/schema.ts';
import type { Redis } from '../store/redis/redis.ts';
import type { ConfiguredSinks } from './create-sinks.ts';
import { EnvironmentError } from './environment.ts';
import type { Role } from './roles.ts';

interface Claim {
  readonly own: DeploymentIdentity;
  readonly log: Log;
}

export interface ServerStores {
  readonly redis: Redis;
  readonly db: Kysely<Database>;
  /** Server and name of the database, for messages. */
  readonly database: string;
  readonly spoolDirectory: string;
  readonly sinks: ConfiguredSinks;
  readonly role: Role;
  readonly log: Log;
}

/** What `Stores` says of the deployment, with stores that are servers. */
export function createStoreClaims({ redis, db, database, spoolDirectory, sinks, role, log }: ServerStores) {
  let own: DeploymentIdentity | null = null;
  return {
    async claim(): Promise<void> {
      own = { id: await readDeploymentId(db), database };
      await claimRedis(redis, { own, log });
      await claimSpool(spoolDirectory, role.inference, { own, log });
      if (role.metering) await claimSinks(sinks, { own, log });
    },
    foreignRedis(): string | null {
      const owner = redis.foreignOwner();
      // The health report is public: no addresses.
      return owner === null || own === null
        ? null
        : foreignMessage('Redis', { ...owner, database: '' }, { ...own, database: '' });
    },
    /** Undefined before the claim. */
    ledgerOwner: (): LedgerOwner | undefined =>
      own === null ? undefined : { deploymentId: own.id, demandOwnSource: redis.demandOwn },
  };
}

/** A Redis that does not answer is compared when it does: no command reaches it before. */
async function claimRedis(redis: Redis, { own, log }: Claim): Promise<void> {
  const owner = await redis.claim(own).catch((error: unknown) => {
    log.warn({ err: error }, 'Redis has not told which deployment it belongs to; not used before');
    return null;
  });
  if (owner === null) return;
  throw new EnvironmentError(
    `${foreignMessage('Redis (REDIS_URL)', owner, own)} Set REDIS_URL to a Redis of its own, or to another database of this one (such as redis://host:6379/1). ${REMEDY}`,
  );
}

/** `isNeeded`: the process serves requests, which it cannot while neither Redis nor the spool takes their usage. */
async function claimSpool(directory: string, isNeeded: boolean, { own, log }: Claim): Promise<void> {
  let owner: DeploymentIdentity | null = null;
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    owner = await claimDirectory(directory, own);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (isNeeded)
      throw new EnvironmentError(
        `Relay can’t write to the spool directory ${directory}: ${reason}. It needs it while Redis is unavailable. Make it writable, or set RELAY_SPOOL_DIR to another one.`,
      );
    log.warn({ err: error, directory }, 'cannot use the spool directory');
  }
  if (owner === null) return;
  throw new EnvironmentError(
    `${foreignMessage(`The spool directory ${directory}`, owner, own)} Set RELAY_SPOOL_DIR to another one. ${REMEDY}`,
  );
}

/** A sink that does not answer is compared before its next portion. */
export async function claimSinks({ all }: ConfiguredSinks, { own, log }: Claim): Promise<void> {
  for (const { sink, target, setting } of all) {
    const owner = await sink.claim(own).catch((error: unknown) => {
      log.warn({ err: error, sink: sink.name }, 'cannot reach a usage sink');
      return null;
    });
    if (owner === null) continue;
    // A sink may hold a connection open.
    await sink.close();
    throw new EnvironmentError(
      `${foreignMessage(target, owner, own)} Set ${setting} to another one. ${REMEDY}`,
    );
  }
}

const REMEDY =
  'If the other deployment is gone, or this is it after a restore, see “Which deployment a store belongs to” in docs/operate/backup.md.';
