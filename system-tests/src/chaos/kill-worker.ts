import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import pg from 'pg';
import { until } from '../harness/until.ts';
import type { NetworkedMember } from './fleet.ts';
import { awayMs, type Kill, type Scene } from './kills.ts';

const MOMENT_MS_MAX = 8_000;
const DEAD_MS_MAX = 60_000;

interface Backend {
  readonly client_port: number;
}

export async function livingWorkers({ fleet }: Scene): Promise<NetworkedMember[]> {
  const alive = () => fleet.workers.filter(({ process }) => process !== null);
  if (!(await until(() => alive().length > 0, DEAD_MS_MAX))) throw new Error('no worker came back');
  return alive();
}

/** At any moment. */
export const anywhere: Kill = async (scene) => {
  const victim = scene.random.pick(await livingWorkers(scene));
  await scene.fleet.kill(victim, awayMs(scene));
  return true;
};

/** With rows written and not committed: the rollups, which come after them, are locked. */
export const beforeCommit: Kill = async (scene) => {
  await livingWorkers(scene);
  const lock = await lockRollups(scene.fleet.postgres.url);
  const blocked = await lock.blockedWorker(scene);
  if (blocked !== null) await scene.fleet.kill(blocked, awayMs(scene));
  await lock.release();
  return blocked !== null;
};

/** With rows committed and not acknowledged: Redis is paused before the lock is released. */
export const afterCommit: Kill = async (scene) => {
  const { fleet } = scene;
  await livingWorkers(scene);
  const lock = await lockRollups(fleet.postgres.url);
  const blocked = await lock.blockedWorker(scene);
  if (blocked === null) {
    await lock.release();
    return false;
  }
  const before = await countRows(fleet.postgres.url);
  fleet.redis.pause();
  await lock.release();
  const committed = await until(async () => (await countRows(fleet.postgres.url)) > before, 3_000, 5);
  await fleet.kill(blocked, awayMs(scene));
  fleet.redis.resume();
  return committed;
};

export interface TableLock {
  /** A worker whose statement waits for the lock; null when none came in time. */
  blockedWorker(scene: Scene): Promise<NetworkedMember | null>;
  /** Safe to call twice. */
  release(): Promise<void>;
}

const lockRollups = (url: string) =>
  lockTable(url, 'lock table request_rollups in exclusive mode', '%request_rollups%');

/** `waiting`: what the statement that is to wait for the lock looks like. */
export async function lockTable(url: string, statement: string, waiting: string): Promise<TableLock> {
  const client = await connect(url);
  await client.query('begin');
  await client.query(statement);
  // pg_stat_activity does not change within a transaction.
  const observer = await connect(url);
  let released: Promise<void> | null = null;

  async function release(): Promise<void> {
    await client.query('rollback');
    await Promise.all([client.end(), observer.end()]);
  }

  return {
    async blockedWorker({ fleet }) {
      let member: NetworkedMember | undefined;
      await until(async () => {
        const { rows } = await observer.query<Backend>(
          `select client_port from pg_stat_activity
           where application_name = 'relay-worker' and wait_event_type = 'Lock' and query like $1`,
          [waiting],
        );
        member = fleet.workers.find(
          ({ process }) => process !== null && rows.some((row) => hasPort(process.pid, row.client_port)),
        );
        return member !== undefined;
      }, MOMENT_MS_MAX);
      return member ?? null;
    },
    release: () => (released ??= release()),
  };
}

async function countRows(url: string): Promise<number> {
  const client = await connect(url);
  try {
    const { rows } = await client.query<{ count: string }>('select count(*) as count from requests');
    return Number(rows[0]?.count);
  } finally {
    await client.end();
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Whether the process owns the connection with this local port. */
function hasPort(pid: number, port: number): boolean {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const inodes = readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, address = '']) => address.endsWith(local))
    .map((fields) => `socket:[${fields[9]}]`);
  return readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return inodes.includes(readlinkSync(`/proc/${pid}/fd/${fd}`));
    } catch {
      // The descriptor was closed in the meantime.
      return false;
    }
  });
}
