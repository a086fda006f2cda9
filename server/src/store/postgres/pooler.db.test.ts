import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type PgBouncer, type PrivatePostgres, startPgBouncer, startPostgres } from '@relay/testbed';
import { sql } from 'kysely';
import { seedOrganization, silentLog } from '../fixtures/migrated-database.fixture.ts';
import { PoolerError } from './database-over-pools.ts';
import { createDatabase, type DatabaseHandle } from './postgres.ts';

/** Fewer sessions than callers, so that every session serves callers of all kinds in turn. */
const SESSIONS = 2;
const ROUNDS = 40;

describe('PgBouncer in transaction mode', () => {
  let server: PrivatePostgres;
  let bouncer: PgBouncer;
  let database: DatabaseHandle;
  let organizations: string[];

  before(async () => {
    server = await startPostgres({ migrated: true });
    bouncer = await startPgBouncer({ target: server.url, sessions: SESSIONS });
    database = createDatabase({ url: bouncer.url, directUrl: server.url, log: silentLog });
    const seeded = [await seedOrganization(database.db), await seedOrganization(database.db)];
    organizations = seeded.map(({ organizationId }) => organizationId);
  });
  after(async () => {
    await database.close();
    await bouncer.remove();
    await server.remove();
  });

  const visible = async (db: DatabaseHandle['db']) =>
    (await db.selectFrom('organizations').select('id').execute()).map(({ id }) => id).sort();

  it('an organization sees its own rows only, and the deployment all, on the same sessions', async () => {
    const all = [...organizations].sort();
    await Promise.all(
      Array.from({ length: ROUNDS }, async (_, round) => {
        const own = organizations[round % 2] ?? '';
        const db = database.ofOrganization(own);
        assert.deepEqual(await visible(db), [own]);
        assert.deepEqual(await visible(database.db), all);
        const inside = await db.transaction().execute((tx) => visible(tx));
        assert.deepEqual(inside, [own]);
        await assert.rejects(sql`select * from poisoned_usage`.execute(db), { code: '42501' });
      }),
    );
    const { rows } = await sql<{ role: string; organization: string | null }>`
      select current_user as role, current_setting('relay.organization_id', true) as organization`.execute(
      database.db,
    );
    assert.deepEqual([rows[0]?.role, rows[0]?.organization || null], ['postgres', null]);
  });

  it('a frequent statement is answered on every session', async () => {
    const statement = { name: 'one', text: 'select $1::int as one', values: [1] };
    const answers = await Promise.all(Array.from({ length: ROUNDS }, () => database.query(statement)));
    assert.ok(answers.every(({ rows }) => rows[0]?.['one'] === 1));
  });

  it('notifications arrive', { timeout: 20_000 }, async () => {
    const heard = Promise.withResolvers<void>();
    let count = 0;
    const subscription = database.listen('pooled', () => {
      count += 1;
      // The first hint follows the connect.
      if (count === 1) void sql`select pg_notify('pooled', '')`.execute(database.db);
      else heard.resolve();
    });
    await heard.promise;
    await subscription.close();
  });

  it('a session is refused where no direct address is given, with what to set', async () => {
    const direct = createDatabase({ url: server.url, log: silentLog });
    assert.equal(await direct.withSession(async () => 'used'), 'used');
    await direct.close();
    const lenient = await startPgBouncer({
      target: server.url,
      sessions: SESSIONS,
      settings:
        'ignore_startup_parameters = statement_timeout,lock_timeout,idle_in_transaction_session_timeout,options',
    });
    for (const { url } of [bouncer, lenient]) {
      const handle = createDatabase({ url, log: silentLog });
      await assert.rejects(
        handle.withSession(async () => undefined),
        (error) => error instanceof PoolerError && /DATABASE_DIRECT_URL/.test(error.message),
      );
      await handle.close();
    }
    await lenient.remove();
  });
});
