import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { limitMetrics, limitPeriods } from '@relay/contract';
import { sql } from 'kysely';
import {
  type MigratedDatabase,
  migratedDatabase,
  seedOrganization,
} from '../fixtures/migrated-database.fixture.ts';
import { tables } from './schema.ts';

interface ColumnRow {
  readonly table_name: string;
  readonly column_name: string;
  readonly udt_name: string;
  readonly is_nullable: 'YES' | 'NO';
  readonly column_default: string | null;
  readonly is_generated: 'ALWAYS' | 'NEVER';
}

const FOREIGN_KEY = { code: '23503' };
const CHECK = { code: '23514' };
const UNIQUE = { code: '23505' };

describe('schema', () => {
  let migrated: MigratedDatabase;
  before(async () => {
    migrated = await migratedDatabase();
  });
  after(() => migrated.drop());

  it('the row types say what the database says: columns, types, nullability, defaults', async () => {
    const { rows } = await sql<ColumnRow>`
      select c.table_name, c.column_name, c.udt_name, c.is_nullable, c.column_default, c.is_generated
      from information_schema.columns c
      join pg_class on pg_class.relname = c.table_name and not pg_class.relispartition
      where c.table_schema = 'public'`.execute(migrated.db);
    const actual: Record<string, Record<string, object>> = {};
    for (const row of rows) {
      const table = actual[row.table_name] ?? {};
      actual[row.table_name] = table;
      const generated = row.is_generated === 'ALWAYS';
      table[row.column_name] = {
        type: row.udt_name,
        nullable: row.is_nullable === 'YES',
        hasDefault: row.column_default !== null && !generated,
        generated,
      };
    }
    // A resource that nothing below management reads describes its table itself; management compares that one.
    const known = Object.entries(actual).filter(([name]) => Object.hasOwn(tables, name));
    assert.deepEqual(tables, Object.fromEntries(known));
  });

  it('the tables of limits accept exactly the metrics and periods of the contract', async () => {
    const { rows } = await sql<{ column: 'metric' | 'period'; check: string }>`
      select att.attname as column, pg_get_constraintdef(con.oid) as check
      from pg_constraint con
      join pg_attribute att on att.attrelid = con.conrelid and con.conkey = array[att.attnum]
      where con.contype = 'c' and att.attname in ('metric', 'period')`.execute(migrated.db);
    assert.equal(rows.length, 8, 'one check for each of two columns in four tables');
    const expected = { metric: limitMetrics, period: limitPeriods };
    for (const { column, check } of rows) {
      const words = [...check.matchAll(/'(\w+)'/g)].map(([, word]) => word);
      assert.deepEqual(words.toSorted(), expected[column].toSorted(), check);
    }
  });

  it('every table belongs to an organization, except those that are no one’s', () => {
    const shared = [
      'schema_migrations',
      'announced_drops',
      'sink_leases',
      'sink_outbox',
      'sink_portions',
      'shard_epochs',
      'deployment',
      'secret_checks',
      'live_processes',
      'config_clock',
      'organizations',
      'users',
      'auth_accounts',
      'auth_two_factors',
      'password_resets',
      'sign_in_origins',
      'billing_products',
    ];
    const without = Object.entries(tables).filter(([, columns]) => !('organization_id' in columns));
    assert.deepEqual(without.map(([table]) => table).sort(), shared.sort());
  });

  it('every foreign key between tables of an organization carries the organization', async () => {
    const { rows } = await sql<{ name: string; columns: string[] }>`
      select con.conname as name, array_agg(att.attname::text) as columns
      from pg_constraint con
      join pg_attribute att on att.attrelid = con.conrelid and att.attnum = any(con.conkey)
      where con.contype = 'f' and con.confrelid not in ('organizations'::regclass, 'users'::regclass)
      group by con.oid, con.conname`.execute(migrated.db);
    assert.ok(rows.length >= 20, `only ${rows.length} foreign keys were found`);
    for (const { name, columns } of rows) assert.ok(columns.includes('organization_id'), name);
  });

  it('a reference to another organization’s object is refused by the database', async () => {
    const { db } = migrated;
    const ours = await seedOrganization(db);
    const theirs = await seedOrganization(db);
    const owner = { organization_id: ours.organizationId };
    const id = randomUUIDv7();
    const limit = { metric: 'requests', period: 'minute', limit_value: 1 } as const;
    const attempts = {
      'credential of their provider': db.insertInto('credentials').values({
        ...owner,
        id,
        provider_id: theirs.providerId,
        name: 'x',
        sealed_secret: Buffer.alloc(40),
        key_id: '0'.repeat(16),
      }),
      'endpoint of their provider': db
        .updateTable('endpoints')
        .set({ provider_id: theirs.providerId, credential_id: null })
        .where('id', '=', ours.endpointId),
      'endpoint with their credential': db
        .updateTable('endpoints')
        .set({ credential_id: theirs.credentialId })
        .where('id', '=', ours.endpointId),
      'membership of their endpoint': db
        .updateTable('lane_memberships')
        .set({ endpoint_id: theirs.endpointId })
        .where('id', '=', ours.membershipId),
      'membership in their lane': db
        .updateTable('lane_memberships')
        .set({ lane_id: theirs.laneId })
        .where('id', '=', ours.membershipId),
      'price of their endpoint': db.insertInto('pricing_policies').values({
        ...owner,
        id,
        endpoint_id: theirs.endpointId,
        input_cost_micros_per_1m_tokens: 1,
        output_cost_micros_per_1m_tokens: 1,
        source: 'manual',
      }),
      'limit on their lane': db
        .insertInto('limit_policies')
        .values({ ...owner, id, scope_type: 'lane', scope_id: theirs.laneId, ...limit }),
      'limit on their credential': db
        .insertInto('limit_policies')
        .values({ ...owner, id, scope_type: 'credential', scope_id: theirs.credentialId, ...limit }),
      'budget of their member': db
        .insertInto('user_limit_policies')
        .values({ ...owner, id, user_id: theirs.userId, target_type: 'global', ...limit }),
      'budget on their model': db.insertInto('user_limit_policies').values({
        ...owner,
        id,
        user_id: ours.userId,
        target_type: 'model',
        target_id: theirs.endpointId,
        ...limit,
      }),
      'key of their member': db.insertInto('api_keys').values({
        ...owner,
        id,
        user_id: theirs.userId,
        name: 'x',
        public_id: 'abcdefghij',
        secret_hmac: Buffer.alloc(32),
        scopes: ['relay:request'],
      }),
    };
    for (const [what, attempt] of Object.entries(attempts)) {
      await assert.rejects(attempt.execute(), FOREIGN_KEY, what);
    }
  });

  it('an endpoint cannot use a credential of another provider of the same organization', async () => {
    const { db } = migrated;
    const ours = await seedOrganization(db);
    const other = randomUUIDv7();
    await db
      .insertInto('providers')
      .values({
        organization_id: ours.organizationId,
        id: other,
        name: 'Q',
        slug: 'q',
        base_url: 'https://q.example/v1',
        auth_mode: 'none',
      })
      .execute();
    const move = db.updateTable('endpoints').set({ provider_id: other }).where('id', '=', ours.endpointId);
    await assert.rejects(move.execute(), FOREIGN_KEY);
  });

  it('slugs are unique within an organization and free across organizations', async () => {
    const { db } = migrated;
    const ours = await seedOrganization(db);
    await seedOrganization(db);
    const twice = db
      .insertInto('lanes')
      .values({ organization_id: ours.organizationId, id: randomUUIDv7(), name: 'L2', slug: 'l' });
    await assert.rejects(twice.execute(), UNIQUE);
  });

  it('a value outside its set is refused by the database', async () => {
    const { db } = migrated;
    const { organizationId } = await seedOrganization(db);
    const policy = (over: object) =>
      sql`insert into limit_policies (organization_id, id, scope_type, scope_id, metric, period, limit_value)
        select ${organizationId}, ${randomUUIDv7()}, p->>'scope_type', (p->>'scope_id')::uuid, p->>'metric',
          p->>'period', (p->>'limit_value')::bigint
        from jsonb_build_array(${JSON.stringify({ scope_type: 'global', metric: 'requests', period: 'minute', limit_value: 5, ...over })}::jsonb)
          as list, jsonb_array_elements(list) as p`.execute(db);
    await policy({});
    await policy({ metric: 'concurrency', period: 'none' });
    await assert.rejects(policy({ metric: 'concurrency' }), CHECK);
    await assert.rejects(policy({ period: 'none' }), CHECK);
    await assert.rejects(policy({ metric: 'dollars' }), CHECK);
    await assert.rejects(policy({ scope_type: 'lane' }), CHECK);
    await assert.rejects(policy({ limit_value: -1 }), CHECK);
    await assert.rejects(policy({ limit_value: 2 ** 53 }), CHECK);
  });

  it('an edit raises the version of its row, and bookkeeping does not', async () => {
    const { db } = migrated;
    const ours = await seedOrganization(db);
    const versionOf = async () =>
      (
        await db
          .selectFrom('credentials')
          .select('version')
          .where('id', '=', ours.credentialId)
          .executeTakeFirst()
      )?.version;
    const change = db.updateTable('credentials').where('id', '=', ours.credentialId);
    await change.set({ last_used_at: new Date() }).execute();
    assert.equal(await versionOf(), 1);
    await change.set({ name: 'renamed' }).execute();
    assert.equal(await versionOf(), 2);
  });

  it('the audit log can only grow', async () => {
    const { db } = migrated;
    const entry = {
      organization_id: randomUUIDv7(),
      id: randomUUIDv7(),
      actor_type: 'system',
      action: 'lane.create',
      target_type: 'lane',
    } as const;
    await db.insertInto('audit_log').values(entry).execute();
    await assert.rejects(db.updateTable('audit_log').set({ action: 'x' }).execute(), /append only/);
    await assert.rejects(db.deleteFrom('audit_log').execute(), /append only/);
    await assert.rejects(sql`truncate audit_log`.execute(db), /append only/);
  });

  it('deleting an organization deletes what it owns, and nothing of another', async () => {
    const { db } = migrated;
    const gone = await seedOrganization(db);
    const stays = await seedOrganization(db);
    await db.deleteFrom('organizations').where('id', '=', gone.organizationId).execute();
    for (const table of ['providers', 'credentials', 'endpoints', 'lanes', 'lane_memberships'] as const) {
      const rows = await db
        .selectFrom<'providers' | 'credentials' | 'endpoints' | 'lanes' | 'lane_memberships'>(table)
        .select('organization_id')
        .where('organization_id', 'in', [gone.organizationId, stays.organizationId])
        .execute();
      assert.deepEqual(
        rows.map((row) => row.organization_id),
        [stays.organizationId],
        table,
      );
    }
  });

  it('what an endpoint uses cannot be deleted under it', async () => {
    const { db } = migrated;
    const ids = await seedOrganization(db);
    await assert.rejects(db.deleteFrom('providers').where('id', '=', ids.providerId).execute(), FOREIGN_KEY);
    await assert.rejects(
      db.deleteFrom('credentials').where('id', '=', ids.credentialId).execute(),
      FOREIGN_KEY,
    );
    await db.deleteFrom('endpoints').where('id', '=', ids.endpointId).execute();
    await db.deleteFrom('providers').where('id', '=', ids.providerId).execute();
    const left = await db
      .selectFrom('credentials')
      .select('id')
      .where('organization_id', '=', ids.organizationId)
      .execute();
    assert.deepEqual(left, []);
  });
});
