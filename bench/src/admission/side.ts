import { execFileSync } from 'node:child_process';
import { selfHostedEnvironment, startPostgres, startRedis } from '@relay/testbed';
import pg from 'pg';
import { sourceEntry, startRole } from '../gateways/role.ts';
import { type CheckoutEngine, openEngine } from '../limits/engine-of-checkout.ts';
import { openCounters, type RedisCounters } from '../limits/redis-counters.ts';
import { GATEWAY_CORE } from '../pinned-process.ts';

/** One checkout's engine and worker, on a Redis and a PostgreSQL of their own. */
export interface Side {
  readonly engine: CheckoutEngine;
  readonly counters: RedisCounters;
  /** Rows that the worker has written. */
  ledgerRows(): Promise<number>;
  stop(): Promise<void>;
}

/** Redis has the measured core; engine, worker and PostgreSQL share the other. Redis appends to its file every second. */
export async function startSide(root: string): Promise<Side> {
  const entry = sourceEntry(root);
  const running: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const each of running.reverse()) await each();
  };
  try {
    const [postgres, redis] = await Promise.all([startPostgres(), startRedis({ appendonly: true })]);
    running.push(() => Promise.all([postgres.remove(), redis.remove()]));
    const { env } = selfHostedEnvironment({ DATABASE_URL: postgres.url, REDIS_URL: redis.url });
    const counters = await openCounters(redis.url);
    running.push(async () => counters.close());
    // A rewrite in the middle of a slice would shrink the file whose growth is measured, and copy memory.
    await counters.set('auto-aof-rewrite-percentage', '0');
    pinToGatewayCore((await counters.read()).processId);
    // The platform migrates the database.
    await (await startRole('platform', { entry, env, core: 'load' })).stop();
    const worker = await startRole('worker', { entry, env, core: 'load' });
    running.push(() => worker.stop());
    const engine = await openEngine(root, redis.url);
    running.push(() => engine.close());
    return {
      engine,
      counters,
      ledgerRows: () => countRows(postgres.url),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function countRows(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: number }>('select count(*)::int as count from requests');
    return rows[0]?.count ?? 0;
  } finally {
    await client.end();
  }
}

function pinToGatewayCore(pid: number): void {
  execFileSync('taskset', ['-a', '-p', '-c', String(GATEWAY_CORE), String(pid)], { stdio: 'ignore' });
}
