import { randomUUIDv7 } from 'node:crypto';
import type { Sealer } from '../kit/seal.ts';
import { ensureImplicitOrganization } from '../store/configuration/implicit-organization.ts';
import { createSnapshots, type Snapshots } from '../store/configuration/snapshots.ts';
import { type KnownFences, rememberFences } from '../store/keys/known-fences.ts';
import { MIGRATION_TIMEOUT_MS, migrateUp } from '../store/postgres/migrate.ts';
import type { Stores } from './open-stores.ts';
import type { Runtime } from './runtime.ts';
import { type ProvenSecrets, proveSecrets } from './secrets/prove-secrets.ts';

/** The implicit organization of a self-hosted deployment and its owner, for whom the tokens act. */
export interface Owner {
  readonly organizationId: string;
  readonly userId: string;
}

export interface Configuration {
  /** Null in hosted mode, which has no implicit organization. */
  readonly owner: Owner | null;
  readonly sealer: Sealer;
  readonly secrets: ProvenSecrets;
  readonly fences: KnownFences;
  readonly snapshots: Snapshots;
}

/** A poll runs every second. PostgreSQL counts as down when the last one failed, and after this long without one. */
const POLL_AGE_MS_MAX = 5_000;

/** Brings the database to this version's schema, proves this process's secrets, then reads the configuration and starts polling it. */
export async function openConfiguration(runtime: Runtime, stores: Stores): Promise<Configuration> {
  const { environment, clock, sealer, log } = runtime;
  const { database } = stores;
  const applied = await database.withSession((session) => migrateUp(session), MIGRATION_TIMEOUT_MS);
  if (applied.length > 0) log.info({ applied }, 'database migrated');
  const processId = stores.redis === null ? null : `${process.pid}-${randomUUIDv7()}`;
  const secrets = await proveSecrets({ ...runtime, db: database.db, processId });
  const owner = environment.RELAY_MODE === 'hosted' ? null : await ensureImplicitOrganization(database.db);

  const fences = rememberFences(stores.fences, clock);
  const snapshots = createSnapshots({ database, sealer, clock, log });
  if (owner !== null) await snapshots.load(owner.organizationId);
  snapshots.start();
  return { owner, sealer, secrets, fences, snapshots };
}

/** Judges PostgreSQL by the configuration poll, so that a probe never waits for the database. */
export function isPostgresqlUp({ snapshots }: Pick<Configuration, 'snapshots'>, nowMs: number): boolean {
  const { lastPollOkAtMs, failing } = snapshots.state();
  return !failing && lastPollOkAtMs !== null && nowMs - lastPollOkAtMs < POLL_AGE_MS_MAX;
}
