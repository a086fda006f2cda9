import {
  type PrivatePostgres,
  type PrivateRedis,
  selfHostedEnvironment,
  startPostgres,
  startRedis,
} from '@relay/testbed';
import pg from 'pg';
import { ROOT } from '../gateways/gateway.ts';
import { sourceEntry, startRole } from '../gateways/role.ts';
import type { PinnedProcess } from '../pinned-process.ts';
import { SIZES, upstreamModelOf } from './population.ts';

/** The product on stores of its own. */
export interface Deployment {
  readonly redisUrl: string;
  /** As the owner of the database. */
  readonly client: pg.Client;
  readonly url: string;
  readonly adminToken: string;
  get<T>(path: string): Promise<T>;
  /** Gives the ID of what it creates. */
  post(path: string, body: unknown): Promise<string>;
  startWorker(): Promise<PinnedProcess>;
  stop(): Promise<void>;
}

/** Memory as for a server of this size. Logging of query plans is available, but off. */
const SETTINGS = {
  shared_buffers: '1GB',
  maintenance_work_mem: '512MB',
  max_wal_size: '8GB',
  logging_collector: 'on',
  log_destination: 'jsonlog',
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '-1',
  'auto_explain.log_format': 'json',
};

export async function startDeployment(): Promise<Deployment> {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  const { adminToken, env } = selfHostedEnvironment({ DATABASE_URL: postgres.url, REDIS_URL: redis.url });
  try {
    await configure(postgres);
    const platform = await startRole('platform', { entry: sourceEntry(ROOT), env, core: 'gateway' });
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    const url = `http://127.0.0.1:${platform.port}`;
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
    return {
      redisUrl: redis.url,
      client,
      url,
      adminToken,
      async get<T>(path: string) {
        const response = await fetch(url + path, { headers });
        const text = await response.text();
        if (response.status !== 200) throw new Error(`GET ${path} answered ${response.status}: ${text}`);
        return JSON.parse(text) as T;
      },
      async post(path, body) {
        const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
        const text = await response.text();
        if (response.status !== 201) throw new Error(`POST ${path} answered ${response.status}: ${text}`);
        const made = JSON.parse(text) as { id: string } | { key: { id: string } };
        return 'key' in made ? made.key.id : made.id;
      },
      startWorker: () => startRole('worker', { entry: sourceEntry(ROOT), env, core: 'gateway' }),
      async stop() {
        await platform.stop();
        await client.end();
        await removeStores(postgres, redis);
      },
    };
  } catch (error) {
    await removeStores(postgres, redis);
    throw error;
  }
}

async function removeStores(postgres: PrivatePostgres, redis: PrivateRedis): Promise<void> {
  await Promise.all([postgres.remove(), redis.remove()]);
}

async function configure(postgres: PrivatePostgres): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(`load 'auto_explain'`);
  for (const [name, value] of Object.entries(SETTINGS))
    await client.query(`alter system set ${name} = '${value}'`);
  await client.end();
  await postgres.stop();
  await postgres.start();
}

/** The organization of the deployment, with as many providers, endpoints and lanes as its requests name. */
export async function configureLargest(
  { client, post }: Deployment,
  { endpoints: endpointCount, lanes: laneCount }: { readonly endpoints: number; readonly lanes: number },
) {
  const { rows } = await client.query<{ id: string }>('select id from organizations');
  const [organization] = rows;
  if (organization === undefined) throw new Error('the deployment has no organization');
  const providers: string[] = [];
  for (let index = 0; index < SIZES.providers; index += 1)
    providers.push(
      await post('/api/relay/providers', {
        name: `Provider ${index}`,
        base_url: 'https://provider.example/v1',
        auth_mode: 'bearer_static',
        enabled: true,
      }),
    );
  const endpoints: string[] = [];
  for (let index = 0; index < endpointCount; index += 1)
    endpoints.push(
      await post('/api/relay/endpoints', {
        provider_id: providers[index % SIZES.providers],
        name: `Endpoint ${index}`,
        upstream_model: upstreamModelOf(index),
        route_kind: 'chat',
        supports_streaming: true,
        enabled: true,
      }),
    );
  const lanes: string[] = [];
  for (let index = 0; index < laneCount; index += 1)
    lanes.push(
      await post('/api/relay/routing-lanes', {
        name: `Lane ${index}`,
        default_max_wait_ms: 5_000,
        allow_fallback: true,
        enabled: true,
      }),
    );
  return { id: organization.id, providers, endpoints, lanes };
}
