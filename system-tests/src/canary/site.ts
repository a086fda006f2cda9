import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ProviderSim, startProviderSim } from '@relay/provider-sim';
import { type PrivatePostgres, type PrivateRedis, startPostgres, startRedis } from '@relay/testbed';
import { type AdminClient, adminClient, createLane } from '../harness/admin-client.ts';
import { afterMs } from '../harness/until.ts';
import { type Canaries, createCanaries } from './canaries.ts';
import { type LoggedProcess, startLogged } from './logged-process.ts';
import { type RedisWatch, watchRedis } from './watched-redis.ts';

/** A deployment with separate roles, debug logs and known secrets. */
export interface Site {
  readonly canaries: Canaries;
  readonly postgres: PrivatePostgres;
  readonly redis: PrivateRedis;
  readonly watch: RedisWatch;
  readonly provider: ProviderSim;
  readonly processes: readonly LoggedProcess[];
  /** Where inference answers, and where management does. */
  readonly inferenceUrl: string;
  readonly managementUrl: string;
  readonly admin: AdminClient;
  readonly adminToken: string;
  readonly apiToken: string;
  readonly authSecret: string;
  /** Secrets that the provider gets, and could tell in an error. */
  readonly credentials: readonly string[];
  readonly directory: string;
  readonly spool: string;
  stop(): Promise<void>;
}

export const LANES = { limited: 'limited', unlimited: 'unlimited' } as const;
export const BODY_BYTES_MAX = 200_000;
const SNAPSHOT_POLL_MS = 1_000;

export async function startSite(): Promise<Site> {
  const canaries = createCanaries();
  const directory = mkdtempSync(join(tmpdir(), 'relay-canary-'));
  const spool = join(directory, 'spool');
  mkdirSync(spool);
  const [postgres, redis, provider] = await Promise.all([
    startPostgres(),
    startRedis({ appendonly: true }),
    startProviderSim(),
  ]);
  const watch = watchRedis(redis.port);
  await watch.open();
  const tokens = {
    RELAY_API_TOKEN: canaries.plant('RELAY_API_TOKEN'),
    RELAY_ADMIN_TOKEN: canaries.plant('RELAY_ADMIN_TOKEN'),
    RELAY_AUTH_SECRET: canaries.plant('RELAY_AUTH_SECRET'),
    RELAY_MASTER_KEY: canaries.know('RELAY_MASTER_KEY', randomBytes(32).toString('base64')),
  };
  const env = {
    ...tokens,
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    RELAY_MODE: 'self_hosted',
    RELAY_ACCOUNTS: 'true',
    RELAY_ALLOW_PRIVATE_NETWORKS: '127.0.0.1/32',
    RELAY_LOG_LEVEL: 'debug',
    RELAY_MAX_BODY_BYTES: String(BODY_BYTES_MAX),
    RELAY_UPSTREAM_HEADERS_TIMEOUT_MS: '2000',
    RELAY_UPSTREAM_IDLE_TIMEOUT_MS: '2000',
    RELAY_SPOOL_DIR: spool,
  };
  const processes: LoggedProcess[] = [];
  for (const role of ['platform', 'inference', 'worker'])
    processes.push(await startLogged({ name: role, role, env, directory }));
  const [platform, inference] = processes;
  const managementUrl = platform?.url ?? '';
  const admin = adminClient(managementUrl, tokens.RELAY_ADMIN_TOKEN);
  const credentials = [canaries.plant('a credential'), canaries.plant('the credential of the fallback')];
  await addLanes(admin, provider, credentials);
  return {
    canaries,
    postgres,
    redis,
    watch,
    provider,
    processes,
    inferenceUrl: inference?.url ?? '',
    managementUrl,
    admin,
    adminToken: tokens.RELAY_ADMIN_TOKEN,
    apiToken: tokens.RELAY_API_TOKEN,
    authSecret: tokens.RELAY_AUTH_SECRET,
    credentials,
    directory,
    spool,
    async stop() {
      watch.close();
      await Promise.all(processes.map((each) => each.stop()));
      await Promise.all([postgres.remove(), redis.remove(), provider.close()]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Each with a second endpoint to fall back to. */
async function addLanes(
  admin: AdminClient,
  provider: ProviderSim,
  secrets: readonly string[],
): Promise<void> {
  const endpoints = secrets.map((secret) => ({
    baseUrl: provider.baseUrl,
    upstreamModel: 'sim-multi',
    secret,
  }));
  const { laneId } = await createLane(admin, { name: LANES.limited, endpoints });
  await createLane(admin, { name: LANES.unlimited, endpoints });
  const limit = { scope_type: 'lane', scope_id: laneId, metric: 'tokens', period: 'day' };
  await admin.create('/api/relay/limit-policies', { ...limit, limit_value: 1_000_000_000, enabled: true });
  // There is no event to await: a process learns of a change when it looks.
  await afterMs(SNAPSHOT_POLL_MS + 300);
}
