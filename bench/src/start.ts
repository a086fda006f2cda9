import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import {
  freePort,
  type PrivateRedis,
  redisCall,
  selfHostedEnvironment,
  startPostgres,
  startRedis,
} from '@relay/testbed';
import pg from 'pg';
import { buildPackage } from './checkouts/build-package.ts';
import { checkoutAt, checkoutOf } from './checkouts/checkout.ts';
import { positive, say } from './command-line.ts';
import { processCpuMs } from './cpu-time.ts';
import { ROOT } from './gateways/gateway.ts';
import { packageEntry } from './gateways/role.ts';
import { runRounds } from './rounds.ts';
import { median, ratiosOf, rounded, spread } from './statistics.ts';

/** The edition whose package leaves its dependencies outside. */
const BEFORE = '589a6c46';
const SIDES = ['before', 'now'] as const;
type Side = (typeof SIDES)[number];

export const START_USAGE = `start: CPU of the package's \`relay serve\` on an empty database until it listens, compared with commit ${BEFORE}
  --rounds N       how often each is started, in turns (10)
  --against DIR    another checkout, with its dependencies installed, to compare with instead of ${BEFORE}
  --no-build       measure the packages in dist without running npm run build first`;

interface Stores {
  readonly client: pg.Client;
  readonly postgresUrl: string;
  readonly redis: PrivateRedis;
}

/** Starts the packages of two checkouts in turns, each time on a new database and an empty Redis. */
export async function start(args: readonly string[]): Promise<unknown> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '10' },
      against: { type: 'string' },
      'no-build': { type: 'boolean', default: false },
    },
  });
  const count = positive('--rounds', values.rounds);
  const before = values.against === undefined ? checkoutOf(ROOT, BEFORE) : checkoutAt(values.against);
  try {
    const roots: Readonly<Record<Side, string>> = { before: before.root, now: ROOT };
    if (!values['no-build']) for (const side of SIDES) await buildPackage(roots[side]);
    const rounds = await withStores((stores) =>
      runRounds(SIDES, count, async (side) => {
        const cpuMs = await measureStart(packageEntry(roots[side]), stores);
        say(`  ${side.padEnd(8)}${rounded(cpuMs, 0)} ms`);
        return cpuMs;
      }),
    );
    const cpuMs = (side: Side) => rounds.map((round) => round[side]);
    const ratios = ratiosOf(cpuMs('now'), cpuMs('before'));
    return {
      start_cpu_ratio: rounded(median(ratios), 3),
      start_cpu_ratio_spread: spread(ratios, 3),
      start_cpu_ms: rounded(median(cpuMs('now')), 0),
      start_cpu_ms_before: rounded(median(cpuMs('before')), 0),
      rounds: count,
    };
  } finally {
    before.remove();
  }
}

async function withStores<T>(use: (stores: Stores) => Promise<T>): Promise<T> {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  const client = new pg.Client({ connectionString: postgres.url });
  try {
    await client.connect();
    return await use({ client, postgresUrl: postgres.url, redis });
  } finally {
    await client.end();
    await Promise.all([postgres.remove(), redis.remove()]);
  }
}

async function measureStart(entry: string, { client, postgresUrl, redis }: Stores): Promise<number> {
  await client.query('create database started');
  await redisCall(redis.port, 'FLUSHALL');
  const url = new URL(postgresUrl);
  url.pathname = '/started';
  const { env } = selfHostedEnvironment({ DATABASE_URL: url.href, REDIS_URL: redis.url });
  const child = spawn(process.execPath, [entry, 'serve'], {
    env: { PATH: process.env['PATH'] ?? '', ...env, RELAY_HTTP_ADDR: `127.0.0.1:${await freePort()}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  try {
    return await cpuMsUntilListening(child);
  } finally {
    kill();
    await exited;
    process.off('exit', kill);
    await client.query('drop database started with (force)');
  }
}

function cpuMsUntilListening(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('"msg":"listening"')) resolve(processCpuMs(child.pid ?? 0));
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', (code) => reject(new Error(`relay serve exited with ${code}:\n${output}`)));
  });
}
