import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { redisCall, startRedis } from '@relay/testbed';
import { createLane } from '../harness/admin-client.ts';
import { everywhere } from '../harness/everywhere.ts';
import { until } from '../harness/until.ts';
import { FAILING, type Incident } from './incident.ts';
import { ask } from './load.ts';
import { FREE, type Site } from './site.ts';

const FOLLOWS_MS_MAX = 20_000;
const EXPIRED = 'expired';

export const rareIncidents: readonly Incident[] = [
  {
    name: 'the certificate of a provider has expired',
    breaks: expiredCertificate,
    lanes: [EXPIRED],
    clients: /^(?:502 upstream_unreachable|400 (?:model_not_found|no_route))$/,
    may: [...FAILING, 'RelayEndpointDown'],
    tells: { alerts: ['RelayLaneFailing', 'RelayEndpointDown'], doctor: /certificate has expired/ },
  },
  {
    name: 'Redis fails over to its replica and back',
    breaks: failOver,
    clients: /^503 policy_unavailable$/,
    may: [
      ...FAILING,
      'RelayStoreDown',
      'RelayRedisBreakerOpen',
      'RelaySpoolNotEmpty',
      'RelayAdmissionFailing',
    ],
    tells: {},
    lastsMs: 6_000,
  },
  {
    name: '500 keys come at once, each with a limit that it reaches',
    breaks: manyKeys,
    clients: /^429 (?:rate_limit_wait_budget_exceeded|budget_exhausted)$/,
    tells: {},
    lastsMs: 6_000,
  },
];

const KEYS = 500;
const AT_ONCE = 10;

/** A limit of a key is its own: most of these requests are rejected, and no alert fires. */
async function manyKeys({ admin, front }: Site) {
  const ids: string[] = [];
  const each = async (index: number) => {
    const made = await admin.create('/api/account/api-keys', {
      name: `Crowd ${index}`,
      scopes: ['relay:request'],
    });
    const { id } = made['key'] as { id: string };
    ids.push(id);
    const { status, body } = await admin.call('POST', '/api/relay/api-key-limit-policies', {
      api_key_uuid: id,
      target_type: 'global',
      target_id: null,
      metric: 'requests',
      period: 'day',
      limit_value: 1,
      enabled: true,
    });
    if (status !== 200) throw new Error(`a key limit: ${status} ${JSON.stringify(body)}`);
    const token = String(made['api_key']);
    for (let count = 0; count < 3; count += 1)
      await ask({ url: front.url, token, lane: FREE, tag: `key-${index}-${count}` });
  };
  for (let first = 0; first < KEYS; first += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => each(first + at)));
  return {
    async heals() {
      await Promise.all(ids.map((id) => admin.call('DELETE', `/api/account/api-keys/${id}`)));
    },
  };
}

/** A provider of its own, whose authority every process trusts. */
async function expiredCertificate(site: Site) {
  const { admin, postgres, processes, certificate } = site;
  // Nothing arrives that it could answer.
  const provider = createServer(certificate, (_request, response) => response.end());
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
  const { port } = provider.address() as AddressInfo;
  const endpoints = [{ baseUrl: `https://127.0.0.1:${port}/v1`, upstreamModel: 'sim-multi' }];
  const { laneId, endpointIds, providerIds } = await createLane(admin, { name: EXPIRED, endpoints });
  await everywhere(postgres.url, Object.values(processes));
  return {
    async heals() {
      for (const path of [
        `routing-lanes/${laneId}`,
        ...endpointIds.map((id) => `endpoints/${id}`),
        ...providerIds.map((id) => `providers/${id}`),
      ])
        await admin.call('DELETE', `/api/relay/${path}`);
      provider.close();
    },
  };
}

async function failOver({ redis, links }: Site) {
  const second = await startRedis({ appendonly: true });
  await moveTo(second, redis.port);
  links.redis.retarget(second.url);
  links.redis.cut();
  return {
    async heals() {
      await moveTo(redis, second.port);
      links.redis.retarget(redis.url);
      links.redis.cut();
      await second.remove();
    },
  };
}

/** The replica has all that its primary has, and takes over. */
async function moveTo(replica: { readonly port: number }, primaryPort: number): Promise<void> {
  await redisCall(replica.port, 'REPLICAOF', '127.0.0.1', String(primaryPort));
  const follows = async () =>
    String(await redisCall(replica.port, 'INFO', 'replication')).includes('master_link_status:up');
  if (!(await until(follows, FOLLOWS_MS_MAX))) throw new Error('the replica does not follow');
  await redisCall(replica.port, 'REPLICAOF', 'NO', 'ONE');
}
