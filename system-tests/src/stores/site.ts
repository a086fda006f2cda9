import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ProviderSim, startProviderSim } from '@relay/provider-sim';
import {
  type PgBouncer,
  type PrivatePostgres,
  type PrivateRedis,
  selfHostedEnvironment,
  selfSigned,
  startPgBouncer,
  startPostgres,
  startRedis,
} from '@relay/testbed';
import { type AdminClient, adminClient, createLane } from '../harness/admin-client.ts';
import { type RelayProcess, startRelay } from '../harness/relay-process.ts';
import { afterMs } from '../harness/until.ts';

/** Fewer sessions than one process has connections, so that the pooler really shares them. */
const SESSIONS = 4;
const SECRET = 'sk-upstream';
const DAY_LIMIT = 100_000;

/** Stores as people run them: PgBouncer, TLS with an authority of one's own, and a replica for statistics. */
export interface Site {
  readonly postgres: PrivatePostgres;
  readonly replica: PrivatePostgres;
  readonly redis: PrivateRedis;
  readonly bouncer: PgBouncer;
  readonly provider: ProviderSim;
  readonly fleet: readonly RelayProcess[];
  readonly admin: AdminClient;
  readonly env: Readonly<Record<string, string>>;
  readonly policyId: string;
  /** The files of the authority of both servers, and of another one. */
  readonly authority: string;
  readonly otherAuthority: string;
  /** Sends one request; answers the status. */
  ask(url: string): Promise<number>;
  usedToday(admin: AdminClient): Promise<number>;
  stop(): Promise<void>;
}

export async function startSite(): Promise<Site> {
  const directory = mkdtempSync(join(tmpdir(), 'relay-stores-'));
  const tls = selfSigned();
  const authority = join(directory, 'ca.pem');
  const otherAuthority = join(directory, 'other.pem');
  writeFileSync(authority, tls.cert);
  writeFileSync(otherAuthority, selfSigned('elsewhere').cert);
  const [postgres, redis, provider] = await Promise.all([
    startPostgres({ tls }),
    startRedis({ tls, appendonly: true }),
    startProviderSim({ keys: [SECRET] }),
  ]);
  const [replica, bouncer] = await Promise.all([
    startPostgres({ replicaOf: postgres }),
    startPgBouncer({ target: postgres.url, sessions: SESSIONS }),
  ]);
  const made = selfHostedEnvironment({
    DATABASE_URL: bouncer.url,
    DATABASE_DIRECT_URL: `${postgres.url}?sslmode=verify-full&sslrootcert=${authority}`,
    DATABASE_READ_URL: replica.url,
    REDIS_URL: redis.tlsUrl ?? '',
    NODE_EXTRA_CA_CERTS: authority,
  });
  const first = await startRelay({ env: made.env });
  const fleet = [first, await startRelay({ env: made.env })];
  const admin = adminClient(first.url, made.adminToken);
  const policyId = await addLane(admin, provider);
  // There is no event to await: the other process learns of the lane when it looks.
  await afterMs(1_500);
  return {
    postgres,
    replica,
    redis,
    bouncer,
    provider,
    fleet,
    admin,
    env: made.env,
    policyId,
    authority,
    otherAuthority,
    ask: (url) => ask(url, made.apiToken),
    async usedToday(of) {
      const { body } = await of.call('GET', '/api/relay/limits/usage');
      const all = body as readonly { policy_id: string; used: number }[];
      return all.find(({ policy_id }) => policy_id === policyId)?.used ?? Number.NaN;
    },
    async stop() {
      await Promise.all(fleet.map((each) => each.kill()));
      await bouncer.remove();
      await Promise.all([replica.remove(), redis.remove(), provider.close()]);
      await postgres.remove();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function addLane(admin: AdminClient, provider: ProviderSim): Promise<string> {
  const { endpointIds } = await createLane(admin, {
    name: 'day',
    endpoints: [
      {
        baseUrl: provider.baseUrl,
        upstreamModel: 'sim-multi',
        secret: SECRET,
        endpoint: { pacing: false },
      },
    ],
  });
  const { id } = await admin.create('/api/relay/limit-policies', {
    scope_type: 'endpoint',
    scope_id: endpointIds[0],
    metric: 'requests',
    period: 'day',
    limit_value: DAY_LIMIT,
    enabled: true,
  });
  return id;
}

async function ask(url: string, token: string): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'day', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 5 }),
  });
  await response.text();
  return response.status;
}
