import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { freePort } from '@relay/testbed';
import { type Accounts, mintKey, openAccounts } from '../harness/accounts.ts';
import { createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { type Prometheus, startPrometheus } from './prometheus.ts';
import { startTraceReceiver, type TraceReceiver } from './trace-receiver.ts';

/** A gateway that Prometheus scrapes and that sends traces to a receiver. */
export interface Site {
  readonly deployment: Deployment;
  readonly prometheus: Prometheus;
  readonly receiver: TraceReceiver;
  readonly laneId: string;
  readonly policyId: string;
  readonly endpointIds: readonly string[];
  /** Writes that many keys to the database, each with a limit of its own. */
  addKeys(count: number): Promise<string[]>;
  stop(): Promise<void>;
}

/** The limited lane, whose first endpoint refuses connections, and one without limits. */
export const LIMITED = 'limited';
export const OPEN = 'open';
export const RECEIVER_SECRET = 'receiver-secret-6b1f';

export async function startSite(): Promise<Site> {
  const receiver = await startTraceReceiver();
  const authSecret = randomBytes(32).toString('base64url');
  const metricsToken = randomBytes(32).toString('base64url');
  const deployment = await startDeployment({
    stores: 'servers',
    env: {
      RELAY_AUTH_SECRET: authSecret,
      RELAY_METRICS_TOKEN: metricsToken,
      RELAY_TRACES_URL: receiver.url,
      RELAY_TRACES_HEADERS: `authorization=Bearer%20${RECEIVER_SECRET}`,
      RELAY_TRACES_SAMPLE_RATIO: '0',
      RELAY_LOG_LEVEL: 'debug',
    },
  });
  const { admin, provider } = deployment;
  const sim = { baseUrl: provider.baseUrl, upstreamModel: 'sim-multi' };
  const refusing = { baseUrl: `http://127.0.0.1:${await freePort()}/v1`, upstreamModel: 'sim-multi' };
  const { laneId, endpointIds } = await createLane(admin, {
    name: LIMITED,
    endpoints: [refusing, sim],
    lane: { default_max_wait_ms: 20_000, selection: 'preferred' },
  });
  await createLane(admin, { name: OPEN, endpoints: [sim] });
  const limit = { metric: 'requests', period: 'second', limit_value: 1, enabled: true };
  const { id: policyId } = await admin.create('/api/relay/limit-policies', {
    scope_type: 'endpoint',
    scope_id: endpointIds[1],
    ...limit,
  });
  const prometheus = await startPrometheus({ targets: [deployment.url], token: metricsToken });
  const accounts = openAccounts({ databaseUrl: deployment.postgres.url, authSecret });
  return {
    deployment,
    prometheus,
    receiver,
    laneId,
    policyId,
    endpointIds,
    addKeys: (count) => addKeys(accounts, authSecret, count),
    async stop() {
      await Promise.all([accounts.close(), prometheus.stop()]);
      await deployment.stop();
      await receiver.close();
    },
  };
}

async function addKeys(accounts: Accounts, authSecret: string, count: number): Promise<string[]> {
  const pepper = Buffer.from(hkdfSync('sha256', authSecret, '', 'relay key pepper', 32));
  const minted = Array.from({ length: count }, () => mintKey());
  await accounts.query(
    `with owner as (select organization_id, user_id from organization_members limit 1),
     made as (
       insert into api_keys (organization_id, id, user_id, name, public_id, secret_hmac, scopes)
       select organization_id, gen_random_uuid(), user_id, 'Key ' || place, public_id, secret_hmac, '{relay:request}'
       from owner, unnest($1::text[], $2::bytea[]) with ordinality as given (public_id, secret_hmac, place)
       returning organization_id, id)
     insert into api_key_limit_policies (organization_id, id, api_key_id, target_type, metric, period, limit_value)
     select organization_id, gen_random_uuid(), id, 'global', 'requests', 'day', 100 from made`,
    [
      minted.map(({ publicId }) => publicId),
      minted.map(({ key }) => createHmac('sha256', pepper).update(key).digest()),
    ],
  );
  return minted.map(({ key }) => key);
}
