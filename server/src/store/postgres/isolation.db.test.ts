import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { type Kysely, sql } from 'kysely';
import { type FilledOrganization, fillOrganization } from '../fixtures/filled-organization.fixture.ts';
import { type MigratedDatabase, migratedDatabase } from '../fixtures/migrated-database.fixture.ts';
import { ensureLedgerPartitions, utcDayOf } from '../ledger/ledger-partitions.ts';
import type { Database } from './schema.ts';

// Tests row-level security alone: these statements name no organization, or a wrong one.

const DENIED = { code: '42501' };

/** What management may do, by table. It may do nothing else. */
const privileges: Readonly<Record<string, string>> = {
  alert_deliveries: 'SELECT',
  alert_destinations: 'DELETE INSERT SELECT UPDATE',
  alert_events: 'SELECT',
  api_key_limit_policies: 'DELETE INSERT SELECT UPDATE',
  api_keys:
    'INSERT SELECT UPDATE(changed_version) UPDATE(labels) UPDATE(name) UPDATE(revoked_at) UPDATE(team_id)',
  attributed_rollups: 'SELECT',
  audit_log: 'INSERT SELECT',
  billing_activities: 'SELECT',
  billing_disputes: 'SELECT',
  billing_invoices: 'SELECT',
  billing_payments: 'SELECT',
  billing_refunds: 'SELECT',
  config_clock: 'SELECT UPDATE(version)',
  credentials: 'DELETE INSERT SELECT UPDATE',
  endpoints: 'DELETE INSERT SELECT UPDATE',
  failure_rollups: 'SELECT',
  former_members: 'SELECT',
  former_resources: 'SELECT',
  guardrail_bindings: 'DELETE INSERT SELECT UPDATE',
  guardrail_rollups: 'SELECT',
  guardrails: 'DELETE INSERT SELECT UPDATE',
  idempotency_keys: 'DELETE INSERT SELECT UPDATE',
  invitations: 'INSERT SELECT UPDATE(revoked_at)',
  lane_memberships: 'DELETE INSERT SELECT UPDATE',
  lanes: 'DELETE INSERT SELECT UPDATE',
  limit_policies: 'DELETE INSERT SELECT UPDATE',
  organization_members: 'DELETE SELECT UPDATE(role) UPDATE(status) UPDATE(team_id)',
  organizations: 'SELECT UPDATE(config_version) UPDATE(name)',
  pricing_policies: 'DELETE INSERT SELECT UPDATE',
  providers: 'DELETE INSERT SELECT UPDATE',
  request_rollups: 'SELECT',
  requests: 'SELECT',
  team_limit_policies: 'DELETE INSERT SELECT UPDATE',
  teams: 'DELETE INSERT SELECT UPDATE',
  user_limit_policies: 'DELETE INSERT SELECT UPDATE',
  users: 'SELECT UPDATE(marketing_opt_in) UPDATE(name)',
};

/** Tables of organizations that management does not touch at all. */
const closedTables = [
  'alert_checks',
  'billing_events',
  'billing_subscriptions',
  'organization_tombstones',
  'poisoned_usage',
  'sessions',
];

/** Row-level security without a policy, and no privileges: only the owner of the tables can read them. */
const closed = [
  'alert_checks',
  'billing_events',
  'billing_subscriptions',
  'organization_tombstones',
  'poisoned_usage',
  'sessions',
];

/** How a table's rows belong to an organization; the other listed tables have `organization_id`. */
const ownerColumns: Readonly<Record<string, string>> = { organizations: 'id' };

describe('row-level security', () => {
  let migrated: MigratedDatabase;
  let owner: Kysely<Database>;
  let ours: FilledOrganization;
  let theirs: FilledOrganization;
  let asUs: Kysely<Database>;
  /** Every table with organizations' rows that management may touch. */
  const shared = Object.keys(privileges).filter((table) => table !== 'config_clock' && table !== 'users');
  const may = (verb: string) => shared.filter((table) => privileges[table]?.split(' ').includes(verb));

  before(async () => {
    migrated = await migratedDatabase();
    owner = migrated.db;
    const today = utcDayOf(Date.now());
    await ensureLedgerPartitions(owner, today, today);
    ours = await fillOrganization(owner);
    theirs = await fillOrganization(owner);
    asUs = migrated.database.ofOrganization(ours.organizationId);
  });
  after(() => migrated.drop());

  const ownersOf = async (db: Kysely<Database>, table: string): Promise<string[]> => {
    const { rows } = await sql<{ owner: string }>`
      select distinct ${sql.ref(ownerColumns[table] ?? 'organization_id')}::text as owner
      from ${sql.table(table)}`.execute(db);
    return rows.map((row) => row.owner).sort();
  };
  const contents = async (table: string): Promise<unknown[]> => {
    const { rows } = await sql`select * from ${sql.table(table)} as t order by t::text`.execute(owner);
    return rows;
  };

  it('is on, with a policy that names the organization, for every table that belongs to organizations', async () => {
    const { rows } = await sql<{ name: string; secured: boolean; policies: string[] }>`
      select c.relname as name, c.relrowsecurity as secured,
        array(select concat_ws(' ', polcmd, polpermissive, pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))
          from pg_policy where polrelid = c.oid) as policies
      from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and (c.relname in ('organizations', 'users') or exists (
          select from pg_attribute a where a.attrelid = c.oid and a.attname = 'organization_id'))
      order by c.relname`.execute(owner);
    assert.ok(rows.length > 20);
    for (const { name, secured, policies } of rows) {
      assert.ok(secured, `${name} has no row-level security`);
      if (closedTables.includes(name)) assert.deepEqual(policies, [], name);
      else if (name === 'users') assert.match(policies.join(), /m\.organization_id = relay_organization\(\)/);
      else {
        const own = `(${ownerColumns[name] ?? 'organization_id'} = relay_organization())`;
        assert.deepEqual(policies, [`* t ${own} ${own}`], name);
      }
    }
    const unlisted = rows.map(({ name }) => name).filter((name) => privileges[name] === undefined);
    assert.deepEqual(unlisted, closed);
  });

  it('is not weakened by the role: it owns nothing, joins nothing, and cannot sign in or go around', async () => {
    const { rows } = await sql`
      select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication, rolcanlogin,
        exists (select from pg_auth_members where member = r.oid) as joins,
        exists (select from pg_class where relowner = r.oid) as owns
      from pg_roles r where rolname = 'relay_app'`.execute(owner);
    assert.deepEqual(new Set(Object.values(rows[0] as object)), new Set([false]));
  });

  it('stands before these privileges and no others, partitions and views included', async () => {
    const { rows } = await sql<{ name: string; held: string[] }>`
      select c.relname as name, array(
        select verb from unnest(array['DELETE', 'INSERT', 'REFERENCES', 'SELECT', 'TRIGGER', 'TRUNCATE', 'UPDATE']) as verb
          where has_table_privilege('relay_app', c.oid, verb)
        union all
        select verb || '(' || attname || ')' from pg_attribute a,
          unnest(array['INSERT', 'REFERENCES', 'SELECT', 'UPDATE']) as verb
          where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
            and has_column_privilege('relay_app', c.oid, a.attnum, verb) and not has_table_privilege('relay_app', c.oid, verb)
      ) as held
      from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
      order by c.relname`.execute(owner);
    const held = rows.filter((row) => row.held.length > 0);
    assert.ok(rows.length > held.length + 3, 'the partitions are among the tables asked about');
    assert.deepEqual(
      Object.fromEntries(held.map((row) => [row.name, row.held.sort().join(' ')])),
      privileges,
    );
  });

  it('is passed by one function of the owner, which reaches nothing that is in force', async () => {
    const { rows } = await sql<{ name: string }>`
      select proname as name from pg_proc
      where prosecdef and pronamespace = 'public'::regnamespace and has_function_privilege('relay_app', oid, 'execute')`.execute(
      owner,
    );
    assert.deepEqual(rows, [{ name: 'remove_expired_idempotency_keys' }]);
    await sql`select remove_expired_idempotency_keys(100)`.execute(asUs);
    assert.deepEqual(await ownersOf(owner, 'idempotency_keys'), [ours.organizationId, theirs.organizationId]);
  });

  it('hides every row of another organization from a query without a predicate', async () => {
    for (const table of shared) {
      assert.deepEqual(await ownersOf(owner, table), [ours.organizationId, theirs.organizationId], table);
      assert.deepEqual(await ownersOf(asUs, table), [ours.organizationId], table);
    }
  });

  it('hides their rows from a query that asks for them by id', async () => {
    const found = await asUs
      .selectFrom('providers')
      .select('id')
      .where('id', '=', theirs.providerId)
      .execute();
    assert.deepEqual(found, []);
    const named = await asUs
      .selectFrom('lanes')
      .select('id')
      .where('organization_id', '=', theirs.organizationId)
      .execute();
    assert.deepEqual(named, []);
  });

  it('hides everything while no organization, an empty one or an unknown one is set', async () => {
    for (const organizationId of ['', randomUUIDv7()]) {
      const confined = migrated.database.ofOrganization(organizationId);
      for (const table of [...shared, 'users']) {
        const { rows } = await sql`select from ${sql.table(table)}`.execute(confined);
        assert.equal(rows.length, 0, `${table} as ${JSON.stringify(organizationId)}`);
      }
    }
    await migrated.database.withSession(async (session) => {
      await session.query('set role relay_app');
      for (const table of [...shared, 'users']) {
        assert.deepEqual((await session.query(`select from ${table}`)).rows, [], table);
      }
    });
  });

  it('fails a query that works for something that is no organization at all', async () => {
    const confined = migrated.database.ofOrganization("' or true --");
    await assert.rejects(confined.selectFrom('lanes').select('id').execute(), { code: '22P02' });
  });

  it('keeps an update without a predicate to the rows of the organization', async () => {
    const changes: Readonly<Record<string, string>> = {
      ...Object.fromEntries(may('UPDATE').map((table) => [table, 'version = version + 100'])),
      idempotency_keys: `path = '/changed'`,
      organization_members: `role = 'viewer'`,
      invitations: 'revoked_at = now()',
      api_keys: `name = 'Changed'`,
    };
    for (const [table, change] of Object.entries(changes)) {
      const before = await contents(table);
      await sql`update ${sql.table(table)} set ${sql.raw(change)}`.execute(asUs);
      const changed = (await contents(table)).filter(
        (row) => !before.some((one) => JSON.stringify(one) === JSON.stringify(row)),
      ) as { organization_id: string }[];
      assert.ok(changed.length > 0, `nothing changed in ${table}`);
      assert.ok(
        changed.every((row) => row.organization_id === ours.organizationId),
        table,
      );
    }
  });

  it('refuses to move a row to another organization', async () => {
    for (const table of may('UPDATE')) {
      const move = sql`update ${sql.table(table)} set organization_id = ${theirs.organizationId}`;
      await assert.rejects(move.execute(asUs), DENIED, table);
    }
  });

  it('refuses to add a row to another organization', async () => {
    for (const table of may('INSERT')) {
      // A copy of the organization's own row: everything is valid except who writes it.
      const { rows } = await sql<Record<string, unknown>>`
        select t.* from ${sql.table(table)} as t where organization_id = ${theirs.organizationId} limit 1`.execute(
        owner,
      );
      const writable = Object.entries(rows[0] ?? {}).filter(
        ([name]) => !/^(target|scope)_\w+_id$/.test(name),
      );
      const names = sql.join(writable.map(([name]) => sql.ref(name)));
      const values = sql.join(
        writable.map(([name, value]) => (name === 'id' ? sql`${randomUUIDv7()}::uuid` : sql`${value}`)),
      );
      const insert = sql`insert into ${sql.table(table)} (${names}) values (${values})`;
      await assert.rejects(insert.execute(asUs), DENIED, table);
    }
  });

  it('keeps out of reach what a key was made with, who a member is and to whom an invitation went', async () => {
    const kept: readonly [table: string, column: string][] = [
      ['api_keys', 'scopes'],
      ['api_keys', 'secret_hmac'],
      ['api_keys', 'public_id'],
      ['api_keys', 'user_id'],
      ['api_keys', 'expires_at'],
      ['organization_members', 'user_id'],
      ['invitations', 'email'],
      ['invitations', 'role'],
      ['invitations', 'token_hash'],
    ];
    for (const [table, column] of kept) {
      const change = sql`update ${sql.table(table)} set ${sql.ref(column)} = ${sql.ref(column)}`;
      await assert.rejects(change.execute(asUs), DENIED, `${table}.${column}`);
    }
  });

  it('keeps the plan and the slug of an organization, and every column of another, out of reach', async () => {
    for (const column of ['plan', 'slug']) {
      const change = sql`update organizations set ${sql.ref(column)} = 'enterprise'`;
      await assert.rejects(change.execute(asUs), DENIED, column);
    }
    const result = await asUs
      .updateTable('organizations')
      .set({ config_version: 1, name: 'Taken over' })
      .where('id', '=', theirs.organizationId)
      .executeTakeFirst();
    assert.equal(result.numUpdatedRows, 0n);
    await assert.rejects(
      sql`insert into organizations (id, name, slug, plan)
      values (${randomUUIDv7()}, 'x', 'x', 'enterprise')`.execute(asUs),
      DENIED,
    );
  });

  it('shows a person to the organizations they are a member of and to no other', async () => {
    const seen = async (db: Kysely<Database>) =>
      (await db.selectFrom('users').select('id').execute()).map(({ id }) => id).sort();
    const asThem = migrated.database.ofOrganization(theirs.organizationId);
    assert.deepEqual(await seen(asUs), [ours.userId]);
    assert.deepEqual(await seen(asThem), [theirs.userId]);
    const both = { organization_id: theirs.organizationId, user_id: ours.userId, role: 'viewer' } as const;
    await owner.insertInto('organization_members').values(both).execute();
    assert.deepEqual(await seen(asThem), [ours.userId, theirs.userId].sort());
    assert.deepEqual(await seen(asUs), [ours.userId]);
    await owner
      .deleteFrom('organization_members')
      .where('organization_id', '=', theirs.organizationId)
      .where('user_id', '=', ours.userId)
      .execute();
    await assert.rejects(asUs.updateTable('users').set({ email: 'taken@example.com' }).execute(), DENIED);
    await assert.rejects(asUs.updateTable('users').set({ status: 'active' }).execute(), DENIED);
  });

  it('cannot be bypassed by querying a partition of the ledger directly', async () => {
    const { rows } = await sql<{ name: string }>`
      select relname as name from pg_class where relispartition and relkind = 'r'`.execute(owner);
    assert.ok(rows.length >= 4);
    for (const { name } of rows) {
      await assert.rejects(sql`select from ${sql.table(name)}`.execute(asUs), DENIED, name);
    }
  });

  it('keeps a delete without a predicate to the rows of the organization', async () => {
    // Children before the rows they refer to.
    const order = ['lane_memberships', 'guardrail_bindings', 'endpoints', 'credentials'];
    const rest = may('DELETE').filter((table) => !order.includes(table) && table !== 'organization_members');
    for (const table of [...order, ...rest, 'organization_members']) {
      await sql`delete from ${sql.table(table)}`.execute(asUs);
      assert.deepEqual(await ownersOf(owner, table), [theirs.organizationId], table);
    }
  });
});
