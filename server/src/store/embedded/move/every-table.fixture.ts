import { randomUUIDv7 } from 'node:crypto';
import type { Kysely } from 'kysely';
import { ensureLedgerPartitions, utcDayOf } from '../../ledger/ledger-partitions.ts';
import { fillOrganization } from '../../postgres/filled-organization.fixture.ts';
import { seedOrganization } from '../../postgres/migrated-database.fixture.ts';
import type { Database } from '../../postgres/schema.ts';

/** For tests: two organizations, one that is gone, and at least one row in every table there is. */
export async function fillEveryTable(db: Kysely<Database>): Promise<void> {
  const today = utcDayOf(Date.now());
  await ensureLedgerPartitions(db, today, today);
  const { organizationId, userId } = await fillOrganization(db);
  await seedOrganization(db);
  const gone = await seedOrganization(db);
  await db.deleteFrom('organizations').where('id', '=', gone.organizationId).execute();
  await fillIdentity(db, organizationId, userId);
  await db
    .insertInto('poisoned_usage')
    .values({ stream: 's', entry_id: '1-0', place: 0, reason: 'no JSON' })
    .execute();
  const eventAt = new Date();
  await db
    .insertInto('billing_events')
    .values({ id: 'evt_1', type: 'invoice.paid', organization_id: organizationId, created_at: eventAt })
    .execute();
  await db
    .insertInto('billing_subscriptions')
    .values({
      id: 'sub_1',
      organization_id: organizationId,
      status: 'active',
      product_ids: ['prod_1', 'a "quoted", one'],
      event_at: eventAt,
      status_rank: 1,
    })
    .execute();
  await db.insertInto('billing_products').values({ id: 'prod_1', plan: 'team', event_at: eventAt }).execute();
}

async function fillIdentity(db: Kysely<Database>, organizationId: string, userId: string): Promise<void> {
  await db
    .insertInto('sessions')
    .values({
      id: randomUUIDv7(),
      user_id: userId,
      organization_id: organizationId,
      token: 't'.repeat(43),
      expires_at: new Date(Date.now() + 60_000),
    })
    .execute();
  await db
    .insertInto('auth_accounts')
    .values({ id: randomUUIDv7(), user_id: userId, provider_id: 'oidc:x', account_id: 'ada' })
    .execute();
  await db
    .insertInto('auth_two_factors')
    .values({ id: randomUUIDv7(), user_id: userId, secret: 's', backup_codes: 'b' })
    .execute();
}
