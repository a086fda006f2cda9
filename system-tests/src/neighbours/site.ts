import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { allScopes } from '@relay/contract';
import { type Accounts, openAccounts } from '../harness/accounts.ts';
import { type AdminClient, adminClient, createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { type ProviderProcess, startProviderProcess } from '../harness/provider-process.ts';
import type { Order, Word } from './attacker.ts';
import { type Attack, CONCURRENCY_MAX, CONNECTIONS_MAX, FULL_PER_MINUTE, WIDE_ENDPOINTS } from './attacks.ts';

const ATTACKER_FILE = join(import.meta.dirname, 'attacker.ts');
/** What a provider takes to answer; quick for a model, so that a delay by Relay shows. */
const ANSWER_MS = 40;

export interface Tenant {
  readonly organizationId: string;
  readonly key: string;
  readonly keyId: string;
  readonly admin: AdminClient;
}

/** One gateway of a hosted deployment with two organizations: one attacks, the other is measured. */
export interface Site {
  readonly deployment: Deployment;
  readonly good: Tenant;
  readonly evil: Tenant;
  /** Returns what ends the attack and tells the statuses that its clients got. */
  attack(attack: Attack): Promise<() => Promise<Readonly<Record<string, number>>>>;
  stop(): Promise<void>;
}

export async function startSite(): Promise<Site> {
  const authSecret = randomBytes(32).toString('base64url');
  const attacker = fork(ATTACKER_FILE, { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  // Only the suite keeps it; it ends with the connection to it.
  attacker.unref();
  attacker.channel?.unref();
  const heard = wordOf(attacker, 'port');
  const [deployment, shared] = await Promise.all([
    startDeployment({
      env: {
        RELAY_MODE: 'hosted',
        RELAY_AUTH_SECRET: authSecret,
        RELAY_UPSTREAM_CONNECTIONS_MAX: String(CONNECTIONS_MAX),
      },
    }),
    startProviderProcess(),
  ]);
  await shared.failWith({ delayMs: ANSWER_MS });
  const { port } = await heard;
  const accounts = openAccounts({ databaseUrl: deployment.postgres.url, authSecret });
  const [good, evil] = [await addTenant(accounts, deployment), await addTenant(accounts, deployment)];
  await createLane(good.admin, {
    name: 'good',
    endpoints: [{ baseUrl: shared.baseUrl, upstreamModel: 'sim-chat' }],
  });
  await addEvilLanes(accounts, evil, shared, `http://127.0.0.1:${port}/v1`);
  await deployment.everywhere();
  return {
    deployment,
    good,
    evil,
    async attack(start) {
      const begun = wordOf(attacker, 'begun');
      tell(attacker, { start, url: deployment.url, key: evil.key });
      await begun;
      return async () => {
        const said = wordOf(attacker, 'statuses');
        tell(attacker, 'stop');
        return (await said).statuses;
      };
    },
    async stop() {
      attacker.disconnect();
      await accounts.close();
      await Promise.all([deployment.stop(), shared.stop()]);
    },
  };
}

async function addTenant(accounts: Accounts, { url }: Deployment): Promise<Tenant> {
  const organizationId = await accounts.addOrganization({ plan: 'team' });
  const userId = await accounts.addMember(organizationId, { role: 'owner' });
  const { id: keyId, key } = await accounts.addKey({ organizationId, userId, scopes: allScopes });
  return { organizationId, key, keyId, admin: adminClient(url, key) };
}

async function addEvilLanes(
  accounts: Accounts,
  { organizationId, admin, keyId }: Tenant,
  shared: ProviderProcess,
  baseUrl: string,
): Promise<void> {
  const own = { baseUrl, upstreamModel: 'sim-chat' };
  const lane = { default_max_wait_ms: 0 };
  await createLane(admin, { name: 'own', endpoints: [own], lane });
  await createLane(admin, { name: 'shared', endpoints: [{ ...own, baseUrl: shared.baseUrl }], lane });
  const queued = { ...own, endpoint: { max_concurrency: CONCURRENCY_MAX } };
  await createLane(admin, { name: 'queue', endpoints: [queued], lane: { default_max_wait_ms: 60_000 } });
  const wide = await createLane(admin, {
    name: 'wide',
    endpoints: [own],
    lane: { ...lane, selection: 'soonest' },
  });
  const [endpointId = ''] = wide.endpointIds;
  await limit(admin, keyId, endpointId, 'requests', 40);
  await limit(admin, keyId, endpointId, 'tokens', 200);
  await multiply(accounts, organizationId, endpointId, WIDE_ENDPOINTS);
  const full = await createLane(admin, { name: 'full', endpoints: [own], lane });
  await limit(admin, keyId, full.endpointIds[0] ?? '', 'requests', FULL_PER_MINUTE);
}

/** Copies an endpoint with its membership and its limits for the key, which would be hundreds of calls to the API. */
async function multiply(
  { atOnce, changed }: Accounts,
  organizationId: string,
  endpointId: string,
  count: number,
): Promise<void> {
  await atOnce(async (query) => {
    await query(
      `insert into endpoints select (jsonb_populate_record(null::endpoints, to_jsonb(e) || jsonb_build_object(
         'id', gen_random_uuid(), 'name', 'wide ' || n, 'slug', 'wide-' || n, 'upstream_model', 'wide-' || n))).*
       from endpoints e, generate_series(2, $2::int) n where e.id = $1`,
      [endpointId, count],
    );
    await query(
      `insert into lane_memberships select (jsonb_populate_record(null::lane_memberships, to_jsonb(m) || jsonb_build_object(
         'id', gen_random_uuid(), 'endpoint_id', e.id, 'manual_rank', substr(e.slug, 6)::int))).*
       from lane_memberships m, endpoints e
       where m.endpoint_id = $1 and e.organization_id = $2 and e.slug like 'wide-%' and e.upstream_model = e.slug`,
      [endpointId, organizationId],
    );
    await query(
      `insert into api_key_limit_policies (organization_id, id, api_key_id, target_type, target_id, metric, period, limit_value)
       select p.organization_id, gen_random_uuid(), p.api_key_id, p.target_type, e.id, p.metric, p.period, p.limit_value
       from api_key_limit_policies p, endpoints e
       where p.target_id = $1 and e.organization_id = $2 and e.slug like 'wide-%' and e.upstream_model = e.slug`,
      [endpointId, organizationId],
    );
  });
  await changed(organizationId);
}

async function limit(
  admin: AdminClient,
  keyId: string,
  endpointId: string,
  metric: string,
  value: number,
): Promise<void> {
  const { status, body } = await admin.call('POST', '/api/relay/api-key-limit-policies', {
    api_key_uuid: keyId,
    target_type: 'model',
    target_id: endpointId,
    metric,
    period: 'minute',
    limit_value: value,
    enabled: true,
  });
  if (status !== 200) throw new Error(`a key limit was answered ${status}: ${JSON.stringify(body)}`);
}

function tell(attacker: ChildProcess, order: Order): void {
  attacker.send(order);
}

async function wordOf<Name extends string>(
  attacker: ChildProcess,
  name: Name,
): Promise<Extract<Word, Record<Name, unknown>>> {
  for (;;) {
    const [word] = (await once(attacker, 'message')) as [Word];
    if (name in word) return word as Extract<Word, Record<Name, unknown>>;
  }
}
