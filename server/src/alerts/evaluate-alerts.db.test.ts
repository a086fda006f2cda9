import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { Insertable } from 'kysely';
import {
  type MigratedDatabase,
  migratedDatabase,
  seedOrganization,
} from '../store/fixtures/migrated-database.fixture.ts';
import { ensureLedgerPartitions, utcDayOf } from '../store/ledger/ledger-partitions.ts';
import type { Database } from '../store/postgres/schema.ts';
import { addWebhook, evaluateAll, silent, spend, windowAt } from './alerts.fixture.ts';
import type { EvaluateDeps } from './evaluate-alerts.ts';

const DAY_MS = 86_400_000;
type Policy = Insertable<Database['limit_policies']>;

describe('alerts on limits', () => {
  let migrated: MigratedDatabase;
  let deps: EvaluateDeps;
  before(async () => {
    migrated = await migratedDatabase();
    const [from, to] = [utcDayOf(Date.now() - 9 * DAY_MS), utcDayOf(Date.now() + DAY_MS)];
    await ensureLedgerPartitions(migrated.db, from, to);
    deps = { db: migrated.db, log: silent, windowAt };
  });
  after(() => migrated.drop());

  async function limited(over: Partial<Policy> = {}) {
    const { organizationId, userId } = await seedOrganization(migrated.db);
    const id = randomUUIDv7();
    await migrated.db
      .insertInto('limit_policies')
      .values({
        organization_id: organizationId,
        id,
        scope_type: 'global',
        metric: 'spend',
        period: 'day',
        limit_value: 1_000,
        alert_at: [50, 80, 100],
        ...over,
      })
      .execute();
    return { organizationId, userId, policyId: id };
  }

  const change = (id: string, set: Partial<Policy>) =>
    migrated.db.updateTable('limit_policies').set(set).where('id', '=', id).execute();

  async function alertsOf(organizationId: string) {
    const rows = await migrated.db
      .selectFrom('alert_events')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .orderBy('window_start')
      .orderBy('kind')
      .orderBy('threshold_percent')
      .execute();
    return rows;
  }
  const percents = async (organizationId: string) =>
    (await alertsOf(organizationId)).map(({ threshold_percent }) => threshold_percent);

  it('are written when their share is reached, each once in a window', async () => {
    const { organizationId } = await limited();
    await spend(migrated.db, organizationId, 499);
    await evaluateAll(deps);
    assert.deepEqual(await percents(organizationId), []);
    await spend(migrated.db, organizationId, 1);
    await evaluateAll(deps);
    assert.deepEqual(await percents(organizationId), [50]);
    await spend(migrated.db, organizationId, 10);
    await evaluateAll(deps);
    assert.deepEqual(await percents(organizationId), [50]);
    const [alert] = await alertsOf(organizationId);
    assert.equal(alert?.used, 500);
    assert.equal(alert?.limit_value, 1_000);
  });

  it('are all written that one request passes', async () => {
    const { organizationId } = await limited();
    await spend(migrated.db, organizationId, 5_000);
    await evaluateAll(deps);
    assert.deepEqual(await percents(organizationId), [50, 80, 100]);
  });

  it('are one each when eight workers evaluate together, with one delivery for each destination', async () => {
    const { organizationId } = await limited();
    await addWebhook(migrated.db, organizationId, 'https://one.example.com');
    await addWebhook(migrated.db, organizationId, 'https://two.example.com');
    await addWebhook(migrated.db, organizationId, 'https://three.example.com', { enabled: false });
    // Each has a check of its own, so that workers find something to do at the same time.
    await Promise.all(Array.from({ length: 40 }, () => spend(migrated.db, organizationId, 50)));
    const counts = await Promise.all(Array.from({ length: 8 }, () => evaluateAll(deps)));
    assert.equal(
      counts.reduce((sum, count) => sum + count),
      3,
    );
    assert.deepEqual(await percents(organizationId), [50, 80, 100]);
    const deliveries = await migrated.db
      .selectFrom('alert_deliveries')
      .select('event_id')
      .where('organization_id', '=', organizationId)
      .execute();
    assert.equal(deliveries.length, 6);
  });

  it('leave the check when the transaction does not commit, and are then written once', async () => {
    const { organizationId } = await limited();
    await spend(migrated.db, organizationId, 600);
    const cut = migrated.db.transaction().execute(async (tx) => {
      const { evaluateNext } = await import('./evaluate-alerts.ts');
      // As a killed worker leaves it: everything but the commit.
      await evaluateNext({ ...deps, db: nested(tx) });
      throw new Error('killed');
    });
    await assert.rejects(cut, /killed/);
    assert.deepEqual(await percents(organizationId), []);
    await evaluateAll(deps);
    assert.deepEqual(await percents(organizationId), [50]);
  });

  it('start again in the next window, and usage that is late alerts in its own', async () => {
    const { organizationId } = await limited();
    const { startMs } = windowAt('day', Date.now());
    await spend(migrated.db, organizationId, 900, { atMs: startMs - 1_000 });
    await spend(migrated.db, organizationId, 500, { atMs: startMs + 1_000 });
    await evaluateAll(deps);
    const found = (await alertsOf(organizationId)).map((row) => [
      row.window_start.getTime() - startMs,
      row.threshold_percent,
      row.used,
    ]);
    assert.deepEqual(found, [
      [-DAY_MS, 50, 900],
      [-DAY_MS, 80, 900],
      [0, 50, 500],
    ]);
  });

  it('are not written for a window that ended more than three days ago', async () => {
    const { organizationId } = await limited();
    await spend(migrated.db, organizationId, 900, { atMs: windowAt('day', Date.now()).startMs - 5 * DAY_MS });
    await evaluateAll(deps);
    assert.deepEqual(await percents(organizationId), []);
  });

  it('follow a limit that is lowered, without any new usage, and one that is raised', async () => {
    const { organizationId, policyId } = await limited();
    await spend(migrated.db, organizationId, 400);
    await evaluateAll(deps);
    assert.deepEqual(await percents(organizationId), []);
    await change(policyId, { limit_value: 500 });
    await evaluateAll(deps);
    assert.deepEqual(await percents(organizationId), [50, 80]);
    await change(policyId, { limit_value: 10_000 });
    await spend(migrated.db, organizationId, 8_000);
    await evaluateAll(deps);
    // 80 % of the new limit: that threshold was reached in this window before, and 100 % is not reached.
    assert.deepEqual(await percents(organizationId), [50, 80]);
  });

  it('follow thresholds that are added later, and are silent while the limit is disabled', async () => {
    const { organizationId, policyId } = await limited({ alert_at: [] });
    await spend(migrated.db, organizationId, 700);
    const { rows } = await countChecks(organizationId);
    assert.equal(rows, 0, 'an organization without alerts costs no check');
    await change(policyId, { alert_at: [60], enabled: false });
    await evaluateAll(deps);
    assert.deepEqual(await percents(organizationId), []);
    await change(policyId, { enabled: true });
    await evaluateAll(deps);
    assert.deepEqual(await percents(organizationId), [60]);
  });

  it('of a deleted limit stay, and no new ones come', async () => {
    const { organizationId, policyId } = await limited();
    await spend(migrated.db, organizationId, 500);
    await evaluateAll(deps);
    await spend(migrated.db, organizationId, 500);
    await migrated.db.deleteFrom('limit_policies').where('id', '=', policyId).execute();
    await evaluateAll(deps);
    assert.deepEqual(await percents(organizationId), [50]);
  });

  it('of members are those of the members that used something', async () => {
    const { organizationId, userId } = await limited({ alert_at: [] });
    const policy = (id: string) => ({
      organization_id: organizationId,
      id,
      user_id: userId,
      target_type: 'global' as const,
      metric: 'requests' as const,
      period: 'day' as const,
      limit_value: 2,
      alert_at: [50],
    });
    await migrated.db.insertInto('user_limit_policies').values(policy(randomUUIDv7())).execute();
    await evaluateAll(deps);
    await spend(migrated.db, organizationId, 1, { user_id: randomUUIDv7() });
    await evaluateAll(deps);
    assert.deepEqual(await percents(organizationId), []);
    await spend(migrated.db, organizationId, 1, { user_id: userId });
    await evaluateAll(deps);
    const [alert] = await alertsOf(organizationId);
    assert.deepEqual([alert?.policy_kind, alert?.subject_id, alert?.used], ['user', userId, 1]);
  });

  it('of keys and members that can no longer send do not come', async () => {
    const { organizationId, userId } = await limited({ alert_at: [] });
    const common = {
      target_type: 'global',
      metric: 'requests',
      period: 'day',
      limit_value: 2,
      alert_at: [50],
    } as const;
    const key = { id: randomUUIDv7(), public_id: '0000000000', name: 'k', scopes: ['relay:request'] };
    await migrated.db
      .insertInto('api_keys')
      .values({ ...key, organization_id: organizationId, user_id: userId, secret_hmac: Buffer.alloc(32) })
      .execute();
    const owned = { organization_id: organizationId, ...common };
    await migrated.db
      .insertInto('api_key_limit_policies')
      .values({ ...owned, id: randomUUIDv7(), api_key_id: key.id })
      .execute();
    await migrated.db
      .insertInto('user_limit_policies')
      .values({ ...owned, id: randomUUIDv7(), user_id: userId })
      .execute();
    const kinds = async () => (await alertsOf(organizationId)).map(({ policy_kind }) => policy_kind).sort();

    await migrated.db
      .updateTable('api_keys')
      .set({ revoked_at: new Date() })
      .where('id', '=', key.id)
      .execute();
    await spend(migrated.db, organizationId, 1, { user_id: userId, key_id: key.id });
    await evaluateAll(deps);
    assert.deepEqual(await kinds(), ['user']);

    await migrated.db.updateTable('api_keys').set({ revoked_at: null }).where('id', '=', key.id).execute();
    await spend(migrated.db, organizationId, 1, { user_id: userId, key_id: key.id });
    await evaluateAll(deps);
    assert.deepEqual(await kinds(), ['api_key', 'user']);
  });

  it('of shared limits are those on what was used, and those on everything', async () => {
    const { organizationId } = await limited({ alert_at: [] });
    const seeded = await migrated.db
      .selectFrom('lanes')
      .select('id')
      .where('organization_id', '=', organizationId)
      .executeTakeFirstOrThrow();
    const policy = {
      organization_id: organizationId,
      metric: 'requests',
      period: 'day',
      limit_value: 1,
    } as const;
    const onLane = {
      ...policy,
      id: randomUUIDv7(),
      scope_type: 'lane',
      scope_id: seeded.id,
      alert_at: [100],
    } as const;
    const onAll = {
      ...policy,
      id: randomUUIDv7(),
      scope_type: 'global',
      limit_value: 2,
      alert_at: [90],
    } as const;
    await migrated.db.insertInto('limit_policies').values([onLane, onAll]).execute();
    await evaluateAll(deps);
    await spend(migrated.db, organizationId, 1);
    await spend(migrated.db, organizationId, 1);
    await evaluateAll(deps);
    assert.deepEqual(await percents(organizationId), [90]);
    await spend(migrated.db, organizationId, 1, { lane_id: seeded.id });
    await evaluateAll(deps);
    assert.deepEqual(await percents(organizationId), [90, 100]);
  });

  it('on a forecast come once in a window, with the time at which the limit is reached', async () => {
    const { organizationId } = await limited({ alert_at: [], alert_on_forecast: true, period: 'month' });
    const { startMs, endMs } = windowAt('month', Date.now());
    const passed = (Date.now() - startMs) / (endMs - startMs);
    await spend(migrated.db, organizationId, Math.floor(passed * 500));
    await evaluateAll(deps);
    assert.deepEqual(await percents(organizationId), []);
    await spend(migrated.db, organizationId, Math.ceil(passed * 500) + 50);
    await spend(migrated.db, organizationId, 1);
    await evaluateAll(deps);
    await spend(migrated.db, organizationId, 1);
    await evaluateAll(deps);
    const found = await alertsOf(organizationId);
    if (passed < 0.1) return assert.deepEqual(found, []);
    assert.equal(found.length, 1);
    const atMs = found[0]?.forecast_exhausted_at?.getTime() ?? 0;
    assert.ok(atMs > Date.now() && atMs < endMs);
  });

  it('of one organization do not wait for another whose checks fail', async () => {
    const [bad, good] = [await limited(), await limited()];
    await spend(migrated.db, bad.organizationId, 900);
    await spend(migrated.db, good.organizationId, 900);
    const { windowAt: at, ...rest } = deps;
    let isFirst = true;
    const failing: EvaluateDeps = {
      ...rest,
      windowAt(period, atMs) {
        if (isFirst) {
          isFirst = false;
          throw new Error('planted');
        }
        return at(period, atMs);
      },
    };
    await evaluateAll(failing);
    assert.deepEqual(await percents(bad.organizationId), []);
    assert.deepEqual(await percents(good.organizationId), [50, 80]);
    await migrated.db.updateTable('alert_checks').set({ due_at: new Date() }).execute();
    await evaluateAll(deps);
    assert.deepEqual(await percents(bad.organizationId), [50, 80]);
  });

  async function countChecks(organizationId: string) {
    const checks = await migrated.db
      .selectFrom('alert_checks')
      .select('id')
      .where('organization_id', '=', organizationId)
      .execute();
    return { rows: checks.length };
  }
});

/** Runs a transaction inside another one. */
function nested(tx: EvaluateDeps['db']): EvaluateDeps['db'] {
  return new Proxy(tx, {
    get(target, name) {
      if (name === 'transaction')
        return () => ({ execute: (run: (inner: EvaluateDeps['db']) => Promise<unknown>) => run(target) });
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
