import { randomUUIDv7 } from 'node:crypto';
import { freshDatabase } from '@relay/testbed';
import type { Kysely } from 'kysely';
import type { StoreLog } from '../store-log.ts';
import { MIGRATION_TIMEOUT_MS, migrateUp } from './migrate.ts';
import type { DatabaseHandle } from './postgres.ts';
import type { Database } from './schema.ts';
import { openTestDatabase } from './test-database.fixture.ts';

/** For tests: says nothing. */
export const silentLog: StoreLog = { info: () => undefined, warn: () => undefined };

export interface MigratedDatabase {
  readonly url: string;
  readonly database: DatabaseHandle;
  readonly db: Kysely<Database>;
  drop(): Promise<void>;
}

/** For tests: a fresh database with the whole schema. */
export async function migratedDatabase(): Promise<MigratedDatabase> {
  const fresh = await freshDatabase();
  const database = await openTestDatabase({ url: fresh.url, log: silentLog });
  await database.withSession((session) => migrateUp(session), MIGRATION_TIMEOUT_MS);
  return {
    url: fresh.url,
    database,
    db: database.db,
    async drop() {
      await database.close();
      await fresh.drop();
    },
  };
}

/** For tests: an organization with a provider, a credential, an endpoint, a lane and a membership. */
export async function seedOrganization(
  db: Kysely<Database>,
  options: {
    sealed?: (place: { organizationId: string; providerId: string }) => { secret: Buffer; keyId: string };
  } = {},
) {
  const [organizationId, userId, providerId, credentialId, endpointId, laneId, membershipId] = [
    randomUUIDv7(),
    randomUUIDv7(),
    randomUUIDv7(),
    randomUUIDv7(),
    randomUUIDv7(),
    randomUUIDv7(),
    randomUUIDv7(),
  ];
  const slug = organizationId;
  const sealed = options.sealed?.({ organizationId, providerId }) ?? {
    secret: Buffer.alloc(40),
    keyId: '0'.repeat(16),
  };
  await db.transaction().execute(async (tx) => {
    const owner = { organization_id: organizationId };
    await tx
      .insertInto('organizations')
      .values({ id: organizationId, name: 'Acme', slug, plan: 'team' })
      .execute();
    await tx
      .insertInto('users')
      .values({ id: userId, name: 'Ada', email: `${userId}@example.com` })
      .execute();
    await tx
      .insertInto('organization_members')
      .values({ ...owner, user_id: userId, role: 'owner' })
      .execute();
    await tx
      .insertInto('providers')
      .values({
        ...owner,
        id: providerId,
        name: 'P',
        slug: 'p',
        base_url: 'https://p.example/v1',
        auth_mode: 'bearer_static',
      })
      .execute();
    await tx
      .insertInto('credentials')
      .values({
        ...owner,
        id: credentialId,
        provider_id: providerId,
        name: 'main',
        sealed_secret: sealed.secret,
        key_id: sealed.keyId,
      })
      .execute();
    await tx
      .insertInto('endpoints')
      .values({
        ...owner,
        id: endpointId,
        provider_id: providerId,
        credential_id: credentialId,
        name: 'E',
        slug: 'e',
        upstream_model: 'model-1',
        route_kind: 'chat',
      })
      .execute();
    await tx
      .insertInto('lanes')
      .values({ ...owner, id: laneId, name: 'L', slug: 'l' })
      .execute();
    await tx
      .insertInto('lane_memberships')
      .values({ ...owner, id: membershipId, lane_id: laneId, endpoint_id: endpointId, manual_rank: 1 })
      .execute();
  });
  return { organizationId, userId, providerId, credentialId, endpointId, laneId, membershipId };
}
