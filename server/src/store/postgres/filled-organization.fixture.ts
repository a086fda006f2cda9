import { randomUUIDv7 } from 'node:crypto';
import type { Kysely } from 'kysely';
import { seedOrganization } from './migrated-database.fixture.ts';
import type { Database } from './schema.ts';

export type FilledOrganization = Awaited<ReturnType<typeof seedOrganization>>;

/** For tests: an organization with at least one row in every table that management may touch. */
export async function fillOrganization(db: Kysely<Database>): Promise<FilledOrganization> {
  const seeded = await seedOrganization(db);
  const owned = () => ({ organization_id: seeded.organizationId, id: randomUUIDv7() });
  const limit = { metric: 'requests', period: 'minute', limit_value: 5 } as const;
  const guardrail = owned();
  const key = owned();
  await db
    .insertInto('invitations')
    .values({
      ...owned(),
      email: 'invited@example.com',
      role: 'viewer',
      token_hash: Buffer.from(seeded.organizationId.replaceAll('-', '').repeat(2), 'hex'),
      expires_at: new Date(Date.now() + 60_000),
    })
    .execute();
  await db
    .insertInto('api_keys')
    .values({
      ...key,
      user_id: seeded.userId,
      name: 'Main',
      public_id: key.id.slice(-10),
      secret_hmac: Buffer.alloc(32),
      scopes: ['relay:request'],
    })
    .execute();
  await db
    .insertInto('guardrails')
    .values({ ...guardrail, name: 'G', slug: 'g', preset_slug: 'custom-http', base_url: 'https://g.example' })
    .execute();
  await db
    .insertInto('guardrail_bindings')
    .values({ ...owned(), guardrail_id: guardrail.id, target_type: 'global' })
    .execute();
  await db
    .insertInto('pricing_policies')
    .values({
      ...owned(),
      endpoint_id: seeded.endpointId,
      input_cost_micros_per_1m_tokens: 1,
      output_cost_micros_per_1m_tokens: 1,
      source: 'manual',
    })
    .execute();
  await db
    .insertInto('limit_policies')
    .values({ ...owned(), scope_type: 'global', ...limit })
    .execute();
  await db
    .insertInto('user_limit_policies')
    .values({ ...owned(), user_id: seeded.userId, target_type: 'global', ...limit })
    .execute();
  await db
    .insertInto('api_key_limit_policies')
    .values({ ...owned(), api_key_id: key.id, target_type: 'global', ...limit })
    .execute();
  await db
    .insertInto('audit_log')
    .values({ ...owned(), actor_type: 'system', action: 'lane.create', target_type: 'lane' })
    .execute();
  await db
    .insertInto('idempotency_keys')
    .values({
      organization_id: seeded.organizationId,
      caller_id: 'caller',
      key: 'key',
      method: 'POST',
      path: '/x',
      request_hash: Buffer.alloc(32),
      expires_at: new Date(Date.now() + 60_000),
    })
    .execute();
  await db
    .insertInto('requests')
    .values({
      organization_id: seeded.organizationId,
      request_id: randomUUIDv7(),
      operation: 'chat',
      streaming: false,
      state: 'completed',
      status: 200,
      latency_ms: 1,
      usage_source: 'none',
    })
    .execute();
  await db
    .insertInto('request_rollups')
    .values({
      organization_id: seeded.organizationId,
      family: 'resource',
      bucket: 'minute',
      bucket_start: new Date(0),
    })
    .execute();
  await db
    .insertInto('guardrail_rollups')
    .values({
      organization_id: seeded.organizationId,
      guardrail_id: randomUUIDv7(),
      bucket: 'minute',
      bucket_start: new Date(0),
    })
    .execute();
  await fillBilling(db, seeded.organizationId);
  return seeded;
}

async function fillBilling(db: Kysely<Database>, organization_id: string): Promise<void> {
  const now = new Date();
  const billed = () => ({
    id: randomUUIDv7(),
    organization_id,
    status: 'open',
    currency: 'USD',
    created_at: now,
    event_at: now,
    status_rank: 1,
  });
  const amounts = { total: 1, amount_due: 1, amount_paid: 0, amount_remaining: 1 };
  await db
    .insertInto('billing_invoices')
    .values({ ...billed(), ...amounts, period_start: now, period_end: now })
    .execute();
  await db
    .insertInto('billing_payments')
    .values({ ...billed(), amount: 1, amount_received: 0 })
    .execute();
  await db
    .insertInto('billing_refunds')
    .values({ ...billed(), amount: 1 })
    .execute();
  await db
    .insertInto('billing_disputes')
    .values({ ...billed(), amount: 1 })
    .execute();
  await db
    .insertInto('billing_activities')
    .values({ id: randomUUIDv7(), organization_id, type: 'customer.linked', created_at: now })
    .execute();
}
