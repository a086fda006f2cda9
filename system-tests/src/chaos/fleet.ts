import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type PrivatePostgres,
  type PrivateRedis,
  redisCall,
  selfHostedEnvironment,
  startPostgres,
  startRedis,
  startTcpProxy,
  type TcpProxy,
} from '@relay/testbed';
import type { Probe } from '../harness/probe-client.ts';
import { type RelayProcess, startRefused, startRelay } from '../harness/relay-process.ts';
import { afterMs } from '../harness/until.ts';
import { type ProviderLog, startProviderLog } from './provider-log.ts';

/** A server process that is restarted after each kill, with the same disk. */
export interface Member {
  readonly name: string;
  readonly role: 'inference' | 'worker';
  /** Null while it is dead or starting. */
  process: RelayProcess | null;
}

export interface NetworkedMember extends Member {
  /** Its own way to Redis, which can fail. */
  readonly network: TcpProxy;
}

/** Gateways, workers and their stores, which can be killed; a platform to configure them, and a provider. */
export interface Fleet {
  readonly postgres: PrivatePostgres;
  readonly redis: PrivateRedis;
  readonly provider: ProviderLog;
  /** A proxy to the provider for some requests, which can be blocked. */
  readonly gate: TcpProxy;
  readonly platform: RelayProcess;
  readonly adminToken: string;
  readonly apiToken: string;
  readonly authSecret: string;
  readonly gateways: readonly NetworkedMember[];
  readonly workers: readonly NetworkedMember[];
  /** Where workers write the rows of the ledger as files. */
  readonly usageFiles: string;
  /** Where gateways keep what Redis did not take. */
  readonly spools: readonly string[];
  /** Sends SIGKILL and restarts the member after this delay. */
  kill(member: NetworkedMember, awayMs: number): Promise<void>;
  /** Sends SIGKILL; what `meanwhile` does happens while it is dead. */
  killRedis(awayMs: number, meanwhile?: (redis: PrivateRedis) => void): Promise<void>;
  killPostgres(awayMs: number): Promise<void>;
  /** Resolves when every member runs. */
  whole(): Promise<void>;
  /** Warnings of the processes, most frequent first. */
  warnings(): string[];
  stop(): Promise<void>;
}

const GATEWAYS = 3;
const WORKERS = 2;
const STARTS_MAX = 20;
/** Enough for a run of some minutes. */
const POSTGRES_DISK_MB = 400;
const REDIS_DISK_MB = 100;

export interface FleetOptions {
  readonly gateways?: number;
  /** The first gateway is started with it. */
  readonly probed?: Pick<Probe, 'nodeFlags' | 'env'>;
  /** The stores have disks of their own, which can be full. */
  readonly smallDisks?: boolean;
  /** Processes reach Redis themselves: the proxies run here, where a load of many clients would starve them. */
  readonly withoutProxies?: boolean;
}

export async function startFleet(options: FleetOptions = {}): Promise<Fleet> {
  const directory = mkdtempSync(join(tmpdir(), 'relay-chaos-'));
  const removeDirectory = () => rmSync(directory, { recursive: true, force: true });
  process.once('exit', removeDirectory);
  const [postgres, redis, provider] = await Promise.all([
    startPostgres(options.smallDisks ? { diskMb: POSTGRES_DISK_MB } : {}),
    startRedis({ appendonly: true, ...(options.smallDisks ? { diskMb: REDIS_DISK_MB } : {}) }),
    startProviderLog(),
  ]);
  await syncEveryWrite(redis);
  const gate = await startTcpProxy({ target: provider.process.baseUrl });
  const authSecret = randomSecret();
  const {
    adminToken,
    apiToken,
    env: ownEnv,
  } = selfHostedEnvironment({
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
  });
  const env = {
    ...ownEnv,
    RELAY_ACCOUNTS: 'true',
    RELAY_AUTH_SECRET: authSecret,
    RELAY_USAGE_FILES_DIR: join(directory, 'usage'),
    RELAY_USAGE_FILES_SECONDS: '1',
  };
  // A killed process writes no compile cache. This one fails for its settings and leaves the cache for the others.
  await startRefused({ env: {} });
  const platform = await startRelay({ env, role: 'platform' });
  const started: RelayProcess[] = [platform];
  const spoolOf = (name: string) => join(directory, name);
  const usageFiles = env.RELAY_USAGE_FILES_DIR;
  const gateways = await members('gateway', 'inference', options.gateways ?? GATEWAYS, redis.url);
  const workers = await members('worker', 'worker', WORKERS, redis.url);
  const starting = new Map<NetworkedMember, Promise<void>>();
  let stopping = false;

  async function start(member: NetworkedMember): Promise<void> {
    const spool = spoolOf(member.name);
    mkdirSync(spool, { recursive: true });
    for (let attempt = 1; !stopping; attempt += 1) {
      try {
        const probed = member === gateways[0] ? options.probed : undefined;
        const own = {
          RELAY_SPOOL_DIR: spool,
          REDIS_URL: options.withoutProxies ? redis.url : member.network.url,
        };
        member.process = await startRelay({
          env: { ...env, ...own, ...probed?.env },
          role: member.role,
          nodeFlags: probed?.nodeFlags ?? [],
        });
        started.push(member.process);
        return;
      } catch (error) {
        // No process starts while PostgreSQL is unavailable.
        if (attempt === STARTS_MAX) throw error;
        await afterMs(250);
      }
    }
  }

  function revive(member: NetworkedMember, awayMs: number): void {
    const reviving = afterMs(awayMs).then(() => start(member));
    // Avoids an unhandled rejection; `whole` rethrows the error.
    reviving.catch(() => undefined);
    starting.set(member, reviving);
  }

  for (const member of [...gateways, ...workers]) await start(member);
  return {
    postgres,
    redis,
    provider,
    gate,
    platform,
    adminToken,
    apiToken,
    authSecret,
    gateways,
    workers,
    usageFiles,
    spools: [...gateways, ...workers].map(({ name }) => spoolOf(name)),
    async kill(member, awayMs) {
      const victim = member.process;
      if (victim === null) throw new Error(`${member.name} is dead already`);
      member.process = null;
      await victim.kill();
      revive(member, awayMs);
    },
    async killRedis(awayMs, meanwhile) {
      await redis.kill();
      meanwhile?.(redis);
      await afterMs(awayMs);
      await redis.start();
      await syncEveryWrite(redis);
    },
    async killPostgres(awayMs) {
      await postgres.kill();
      await afterMs(awayMs);
      await postgres.start();
    },
    async whole() {
      await Promise.all(starting.values());
    },
    warnings: () => warningsOf(started),
    async stop() {
      stopping = true;
      await Promise.allSettled(starting.values());
      await Promise.all(started.map((each) => each.stop()));
      await Promise.all([...gateways, ...workers].map(({ network }) => network.close()));
      await Promise.all([postgres.remove(), redis.remove(), provider.stop(), gate.close()]);
      removeDirectory();
    },
  };
}

/**
 * Acknowledged writes must survive SIGKILL. With `everysec` Redis holds writes back in memory during a slow sync; with `always` it
 * acknowledges none before it is in the file.
 */
async function syncEveryWrite(redis: PrivateRedis): Promise<void> {
  await redisCall(redis.port, 'CONFIG', 'SET', 'appendfsync', 'always');
}

async function members(
  name: string,
  role: Member['role'],
  count: number,
  redisUrl: string,
): Promise<NetworkedMember[]> {
  const networks = await Promise.all(
    Array.from({ length: count }, () => startTcpProxy({ target: redisUrl })),
  );
  return networks.map((network, index) => ({ name: `${name}-${index + 1}`, role, network, process: null }));
}

function randomSecret(): string {
  return randomBytes(24).toString('base64url');
}

function warningsOf(processes: readonly RelayProcess[]): string[] {
  const counts = new Map<string, number>();
  for (const line of processes.flatMap(({ logs }) => logs)) {
    if (line['level'] !== 'warn' && line['level'] !== 'error') continue;
    const { message } = (line['err'] ?? {}) as { message?: string };
    const why = message ?? line['why'];
    const text = `${line['level']}: ${line['msg']}${why === undefined ? '' : ` (${String(why)})`}`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1]).map(([text, count]) => `${count} × ${text}`);
}
