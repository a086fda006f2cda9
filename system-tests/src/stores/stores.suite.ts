import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { redisCall, startPostgres, startRedis } from '@relay/testbed';
import pg from 'pg';
import { adminClient } from '../harness/admin-client.ts';
import { reportFigures } from '../harness/figures.ts';
import { runRelay, startRefused, startRelay } from '../harness/relay-process.ts';
import { runProgram } from '../harness/run-program.ts';
import { until } from '../harness/until.ts';
import { failOverUnderLoad } from './fail-over.ts';
import { type Site, startSite } from './site.ts';
import { tableDigests } from './table-digests.ts';

const DEPLOY = join(import.meta.dirname, '../../../deploy');
const START_MS_MAX = 180_000;
const SETTLED_MS_MAX = 30_000;
const REQUESTS = 60;
const ROUNDS = 12;

const figures: Record<string, unknown> = {};
let site: Site;

before(
  async () => {
    site = await startSite();
  },
  { timeout: START_MS_MAX },
);
after(async () => {
  reportFigures(figures);
  await site.stop();
});

async function query<T extends pg.QueryResultRow>(url: string, text: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<T>(text)).rows;
  } finally {
    await client.end();
  }
}

async function ledgerRows(url: string): Promise<number> {
  return (await query<{ count: number }>(url, 'select count(*)::int as count from requests'))[0]?.count ?? 0;
}

/** With its body when it failed, for the message. */
function describeAnswer({ status, body }: { status: number; body: unknown }): string {
  return status < 300 ? String(status) : `${status}: ${JSON.stringify(body)}`;
}

async function statisticsCount(): Promise<number> {
  const { status, body } = await site.admin.call('GET', '/api/relay/stats/summary');
  assert.equal(status, 200);
  return (body as { requests: number }).requests;
}

describe('PgBouncer in transaction mode, TLS and a replica', { concurrency: 1 }, () => {
  it('requests, writes of configuration and statistics all succeed on shared sessions', async () => {
    const answers: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const { url = '' } = site.fleet[round % site.fleet.length] ?? {};
      const lane = { name: `written ${round}`, enabled: false };
      const calls = [
        site.admin.call('POST', '/api/relay/routing-lanes', lane),
        site.admin.call('GET', '/api/relay/stats/summary'),
        site.admin.call('GET', '/api/relay/requests'),
      ].map(async (call) => describeAnswer(await call));
      const asked = Array.from({ length: REQUESTS / ROUNDS }, async () => String(await site.ask(url)));
      answers.push(...(await Promise.all([...calls, ...asked])));
    }
    figures['pooled_requests'] = answers.length;
    figures['pooled_failed'] = answers.filter((answer) => !/^20[01]$/.test(answer)).length;
    assert.deepEqual([...new Set(answers)].sort(), ['200', '201']);
    const isSettled = async () => (await ledgerRows(site.postgres.url)) === REQUESTS;
    assert.ok(await until(isSettled, SETTLED_MS_MAX), 'the ledger has every request');
    assert.ok(await until(async () => (await site.usedToday(site.admin)) === REQUESTS, SETTLED_MS_MAX));
    const sessions = await query<{ role: string }>(
      site.bouncer.url,
      `select current_user as role from generate_series(1, 1)`,
    );
    assert.deepEqual(sessions, [{ role: 'postgres' }], 'no role is left behind');
  });

  it('the direct connections and those to Redis are encrypted', async () => {
    const direct = await query<{ ssl: boolean }>(
      site.postgres.url,
      `select ssl from pg_stat_activity join pg_stat_ssl using (pid) where application_name like 'relay-%' and query like 'listen%'`,
    );
    assert.ok(direct.length >= site.fleet.length, 'each process listens');
    assert.ok(direct.every(({ ssl }) => ssl));
    const clients = String(await redisCall(site.redis.port, 'CLIENT', 'LIST'));
    const { port: tlsPort } = new URL(site.redis.tlsUrl ?? '');
    const addresses = [...clients.matchAll(/ laddr=127\.0\.0\.1:(\d+) .* cmd=(\S+)/g)];
    const plain = addresses.filter(([, port, command]) => port !== tlsPort && command !== 'client|list');
    assert.ok(addresses.length > site.fleet.length, clients);
    assert.deepEqual(plain, [], 'no process speaks to Redis without TLS');
    const { status, body } = await site.admin.call('GET', '/healthz');
    assert.equal(status, 200);
    const report = body as { postgresql_settings?: { pooled: boolean } };
    assert.equal(report.postgresql_settings?.pooled, true);
  });

  it('statistics come from the replica, and are as old as it lags', async () => {
    assert.ok(await until(async () => (await statisticsCount()) === REQUESTS, SETTLED_MS_MAX));
    await query(site.replica.url, 'select pg_wal_replay_pause()');
    assert.equal(await site.ask(site.fleet[0]?.url ?? ''), 200);
    assert.ok(
      await until(async () => (await ledgerRows(site.postgres.url)) === REQUESTS + 1, SETTLED_MS_MAX),
    );
    assert.equal(await statisticsCount(), REQUESTS, 'the replica does not know of it yet');
    await query(site.replica.url, 'select pg_wal_replay_resume()');
    assert.ok(await until(async () => (await statisticsCount()) === REQUESTS + 1, SETTLED_MS_MAX));
  });

  it('addresses that cannot work are refused at the start, each with what to set', async () => {
    const { DATABASE_DIRECT_URL: _, ...pooledOnly } = site.env;
    const refusals: readonly [RegExp, Record<string, string>][] = [
      [/Set DATABASE_DIRECT_URL to the address of PostgreSQL itself/, pooledOnly],
      [
        /REDIS_URL: Relay doesn’t trust Redis’s certificate: .*NODE_EXTRA_CA_CERTS/s,
        { ...site.env, NODE_EXTRA_CA_CERTS: site.otherAuthority },
      ],
    ];
    const refused = [];
    for (const [, env] of refusals) refused.push(await startRefused({ env }));
    for (const [index, { code, stderr }] of refused.entries()) {
      assert.equal(code, 1, stderr);
      assert.match(stderr, refusals[index]?.[0] ?? /^$/);
      assert.ok(!stderr.includes('    at '), 'a message, no stack');
    }
    figures['refused_starts'] = refused.length;
  });

  it('`relay migrate` goes past the pooler', async () => {
    assert.match(await runRelay(['migrate', 'up'], site.env), /No pending migrations/);
  });
});

describe('backup and restore', { concurrency: 1 }, () => {
  it('into a new server with an empty Redis: every row is equal, limits are rebuilt, secrets decrypt', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'relay-backup-'));
    const [target, redis] = await Promise.all([startPostgres(), startRedis()]);
    try {
      const used = await site.usedToday(site.admin);
      const file = join(directory, 'relay.dump');
      const from = { DATABASE_URL: site.bouncer.url, DATABASE_DIRECT_URL: site.postgres.url };
      // What a process writes after the backup is not in it.
      await Promise.all(site.fleet.map((each) => each.kill()));
      await runScript(join(DEPLOY, 'backup/backup.sh'), [file], from);
      await runScript(join(DEPLOY, 'backup/restore.sh'), [file], { DATABASE_URL: target.url });
      const [before, restored] = await Promise.all([
        tableDigests(site.postgres.url),
        tableDigests(target.url),
      ]);
      assert.deepEqual(restored, before);
      figures['restored_tables'] = restored.size;
      figures['restored_rows'] = [...restored.values()].reduce((sum, { rows }) => sum + rows, 0);
      await assert.rejects(
        runScript(join(DEPLOY, 'backup/restore.sh'), [file], { DATABASE_URL: target.url }),
        /the database is not empty/,
      );

      const { DATABASE_DIRECT_URL: _direct, DATABASE_READ_URL: _read, ...env } = site.env;
      const process = await startRelay({ env: { ...env, DATABASE_URL: target.url, REDIS_URL: redis.url } });
      try {
        const admin = adminClient(process.url, env['RELAY_ADMIN_TOKEN'] ?? '');
        assert.ok(await until(async () => (await site.usedToday(admin)) === used, SETTLED_MS_MAX));
        // The provider takes the stored key only.
        assert.ok(await until(async () => (await site.ask(process.url)) === 200, SETTLED_MS_MAX));
      } finally {
        await process.kill();
      }
    } finally {
      await Promise.all([target.remove(), redis.remove()]);
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

describe('Redis Sentinel behind HAProxy', { concurrency: 1 }, () => {
  it('a failover loses no row, doubles none, and exceeds no limit', { timeout: START_MS_MAX }, async () => {
    const found = await failOverUnderLoad(withoutTls());
    Object.assign(figures, found.figures);
    assert.equal(found.isServedAgain, true, 'requests under a limit are served again');
    assert.equal(found.isDemoted, true, 'Sentinel demotes the old master');
    assert.deepEqual(found.wrong, { lost: [], duplicated: [], difference: 0, exceeded: 0 });
    assert.equal(found.refusal.code, 1);
    assert.match(found.refusal.stderr, /REDIS_URL points to Redis Sentinel/);
  });
});

/** The settings of the site without its stores. */
function withoutTls(): Record<string, string> {
  const { DATABASE_DIRECT_URL: _d, DATABASE_READ_URL: _r, NODE_EXTRA_CA_CERTS: _c, ...env } = site.env;
  return env;
}

/** Runs a shipped script; throws with what it printed when it fails. */
async function runScript(
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const { code, output } = await runProgram(script, args, { PATH: process.env['PATH'], ...env });
  if (code !== 0) throw new Error(`${script} ended with ${code}:\n${output}`);
}
