import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  freePort,
  type PrivatePostgres,
  type PrivateRedis,
  selfHostedEnvironment,
  selfSigned,
  startPostgres,
  startRedis,
  startTcpProxy,
  type TcpProxy,
} from '@relay/testbed';
import { type ProviderLog, startProviderLog } from '../chaos/provider-log.ts';
import { type AdminClient, adminClient, createLane } from '../harness/admin-client.ts';
import { everywhere } from '../harness/everywhere.ts';
import { type LedgerView, openLedgerView } from '../harness/ledger-view.ts';
import { type RelayProcess, startRelay } from '../harness/relay-process.ts';
import { type ReverseProxy, startHaproxy } from '../harness/start-proxy.ts';
import { until } from '../harness/until.ts';
import { type Prometheus, startPrometheus } from '../telemetry/prometheus.ts';
import { type Load, startLoad } from './load.ts';
import { shortenRules } from './shorten-rules.ts';

export const ROLES = {
  gateway1: 'inference',
  gateway2: 'inference',
  platform: 'platform',
  worker: 'worker',
} as const;
export type Name = keyof typeof ROLES;
export const NAMES = Object.keys(ROLES) as readonly Name[];

const PER_SECOND = 25;
export const LIMITED = 'limited';
export const FREE = 'free';

const QUIET = 'count(relay_info) unless on() ALERTS{alertstate="firing"}';
const QUIET_MS_MAX = 150_000;
const SERVED = 50;
const RULES = join(import.meta.dirname, '../../../deploy/prometheus/rules.yaml');

/** The deployment that is operated: separate roles behind the shipped HAProxy file, with the shipped rules. */
export interface Site {
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly apiToken: string;
  readonly adminToken: string;
  readonly metricsToken: string;
  readonly postgres: PrivatePostgres;
  readonly redis: PrivateRedis;
  /** In front of the stores and the provider. */
  readonly links: Readonly<Record<'postgres' | 'redis' | 'provider', TcpProxy>>;
  readonly provider: ProviderLog;
  readonly processes: Record<Name, RelayProcess>;
  readonly front: ReverseProxy;
  readonly admin: AdminClient;
  readonly prometheus: Prometheus;
  readonly load: Load;
  readonly ledger: LedgerView;
  /** Past its date; every process trusts its authority. */
  readonly certificate: { readonly key: string; readonly cert: string };
  readonly ids: { readonly laneIds: Record<string, string>; readonly endpointIds: Record<string, string> };
  url(name: Name): string;
  /** Starts it at its address; `more` has the settings that are wrong. */
  start(name: Name, more?: Readonly<Record<string, string>>, nodeFlags?: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

export async function startSite(): Promise<Site> {
  const directory = mkdtempSync(join(tmpdir(), 'relay-on-call-'));
  const [postgres, redis, provider] = await Promise.all([
    startPostgres({ migrated: true, diskMb: 600 }),
    startRedis({ appendonly: true }),
    startProviderLog(),
  ]);
  const links = {
    postgres: await startTcpProxy({ target: postgres.url }),
    redis: await startTcpProxy({ target: redis.url }),
    provider: await startTcpProxy({ target: provider.process.baseUrl }),
  };
  const certificate = selfSigned('provider', -1);
  const authority = join(directory, 'authority.pem');
  writeFileSync(authority, certificate.cert);
  const metricsToken = randomBytes(24).toString('base64url');
  const setup = selfHostedEnvironment({ DATABASE_URL: links.postgres.url, REDIS_URL: links.redis.url });
  const env = {
    ...setup.env,
    RELAY_AUTH_SECRET: randomBytes(32).toString('base64url'),
    RELAY_METRICS_TOKEN: metricsToken,
    NODE_EXTRA_CA_CERTS: authority,
    RELAY_LAME_DUCK_MS: '3000',
  };
  const ports = new Map<Name, number>();
  for (const name of NAMES) ports.set(name, await freePort());
  const url = (name: Name) => `http://127.0.0.1:${ports.get(name)}`;
  const processes = {} as Record<Name, RelayProcess>;
  async function start(name: Name, more = {}, nodeFlags: readonly string[] = []): Promise<void> {
    const spool = { RELAY_SPOOL_DIR: join(directory, `spool-${name}`) };
    const settings = { env: { ...env, ...spool, ...more }, role: ROLES[name], nodeFlags };
    processes[name] = await startRelay({ ...settings, port: ports.get(name) ?? 0 });
  }
  await Promise.all(NAMES.map((name) => start(name)));
  const admin = adminClient(url('platform'), setup.adminToken);
  const ids = await configure(admin, links.provider.url);
  await everywhere(postgres.url, Object.values(processes));
  const front = await startHaproxy([url('gateway1'), url('gateway2')], [url('platform')]);
  const rules = shortenRules(readFileSync(RULES, 'utf8'));
  const prometheus = await startPrometheus({ targets: NAMES.map(url), token: metricsToken, rules });
  // Before the first scrapes, no process reports metrics.
  const isQuiet = async () => (await prometheus.value(QUIET)) === NAMES.length;
  if (!(await until(isQuiet, QUIET_MS_MAX, 1_000)))
    throw new Error(`an alert fires at the start: ${(await prometheus.firing()).join(', ')}`);
  const load = startLoad({
    url: front.url,
    token: setup.apiToken,
    perSecond: PER_SECOND,
    lanes: [LIMITED, FREE, LIMITED],
  });
  // The first requests make the state of limits, for which they need PostgreSQL.
  const isServed = () => {
    const last = load.served.slice(-SERVED);
    return last.length === SERVED && last.every(({ code }) => code === null);
  };
  if (!(await until(isServed, QUIET_MS_MAX))) throw new Error('not every request is served at the start');
  const ledger = openLedgerView(postgres.url);
  return {
    directory,
    env,
    apiToken: setup.apiToken,
    adminToken: setup.adminToken,
    metricsToken,
    postgres,
    redis,
    links,
    provider,
    processes,
    front,
    admin,
    prometheus,
    load,
    ledger,
    certificate,
    ids,
    url,
    start,
    async stop() {
      await load.stop();
      await Promise.all([prometheus.stop(), ledger.close(), front.stop()]);
      await Promise.all(Object.values(processes).map((each) => each.kill()));
      await Promise.all([provider.stop(), ...Object.values(links).map((link) => link.close())]);
      await Promise.all([postgres.remove(), redis.remove()]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function configure(admin: AdminClient, baseUrl: string) {
  const laneIds: Record<string, string> = {};
  const endpointIds: Record<string, string> = {};
  for (const name of [LIMITED, FREE]) {
    const made = await createLane(admin, { name, endpoints: [{ baseUrl, upstreamModel: 'sim-multi' }] });
    laneIds[name] = made.laneId;
    endpointIds[name] = made.endpointIds[0] ?? '';
  }
  for (const [metric, period] of [
    ['requests', 'minute'],
    ['tokens', 'day'],
  ])
    await admin.create('/api/relay/limit-policies', {
      scope_type: 'lane',
      scope_id: laneIds[LIMITED],
      metric,
      period,
      limit_value: 100_000_000,
      enabled: true,
    });
  return { laneIds, endpointIds };
}
