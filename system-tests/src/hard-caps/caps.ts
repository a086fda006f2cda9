import { allScopes } from '@relay/contract';
import type { Fleet } from '../chaos/fleet.ts';
import { openAccounts } from '../harness/accounts.ts';
import { type AdminClient, adminClient, createLane } from '../harness/admin-client.ts';
import { everywhere } from '../harness/everywhere.ts';

export interface Cap {
  /** The lane that requests name. */
  readonly name: string;
  readonly token: string;
  readonly metric: 'tokens' | 'spend';
  readonly period: 'minute' | 'day';
  readonly limit: number;
  /** The tokens of a prompt as the provider counts them. */
  readonly counts: 'bytes' | 'o200k';
}

/** A micro-dollar for a token of input, four for one of output. */
const PRICES = { input_cost_micros_per_1m_tokens: 1_000_000, output_cost_micros_per_1m_tokens: 4_000_000 };
export const OUTPUT_WORTH = 4;
/** Of the first Relay knows no tokenizer, so that every byte counts; of the second it does. */
const MODELS = { bytes: 'sim-multi', o200k: 'gpt-4o' } as const;
/** Long enough for a reservation to come back. */
const WAIT_MS = 2_000;

/** Hard caps of every scope that a request can come under, each with a lane of its own. */
export async function makeCaps(fleet: Fleet, tokens: number): Promise<readonly Cap[]> {
  const owner = adminClient(fleet.platform.url, fleet.adminToken);
  const { apiToken: token } = fleet;
  const shared = await addOrganization(fleet, 'Shared');
  const single = await addOrganization(fleet, 'Single');
  const teamed = await addOrganization(fleet, 'Teamed');
  const caps: readonly Cap[] = [
    { name: 'lane-day', token, metric: 'tokens', period: 'day', limit: tokens, counts: 'bytes' },
    { name: 'lane-spend', token, metric: 'spend', period: 'day', limit: spendOf(tokens), counts: 'o200k' },
    { name: 'lane-minute', token, metric: 'tokens', period: 'minute', limit: tokens, counts: 'o200k' },
    {
      name: 'global-spend',
      token: shared.key,
      metric: 'spend',
      period: 'day',
      limit: spendOf(tokens),
      counts: 'bytes',
    },
    { name: 'key-day', token: single.key, metric: 'tokens', period: 'day', limit: tokens, counts: 'o200k' },
    {
      name: 'team-spend',
      token: teamed.key,
      metric: 'spend',
      period: 'day',
      limit: spendOf(tokens),
      counts: 'bytes',
    },
  ];
  const admins: Readonly<Record<string, AdminClient>> = {
    [shared.key]: shared.admin,
    [single.key]: single.admin,
    [teamed.key]: teamed.admin,
  };
  for (const cap of caps) {
    const admin = admins[cap.token] ?? owner;
    const laneId = await addLane(fleet, admin, cap);
    const { metric, period, limit: limit_value } = cap;
    const limit = { metric, period, limit_value, enforcement: 'hard', enabled: true };
    const everything = { target_type: 'global', target_id: null };
    if (cap.name.startsWith('key'))
      await setCap(admin, 'api-key', { ...limit, ...everything, api_key_uuid: single.keyId });
    else if (cap.name.startsWith('team'))
      await setCap(admin, 'team', { ...limit, ...everything, team_uuid: await addTeams(teamed) });
    else {
      const isGlobal = cap.name.startsWith('global');
      const scope = { scope_type: isGlobal ? 'global' : 'lane', scope_id: isGlobal ? null : laneId };
      await admin.create('/api/relay/limit-policies', { ...limit, ...scope });
    }
  }
  const gateways = fleet.gateways.flatMap(({ process }) => process ?? []);
  await everywhere(fleet.postgres.url, [fleet.platform, ...gateways]);
  return caps;
}

function spendOf(tokens: number): number {
  return tokens * 2;
}

async function addLane(fleet: Fleet, admin: AdminClient, cap: Cap): Promise<string> {
  const endpoints = [{ baseUrl: fleet.provider.process.baseUrl, upstreamModel: MODELS[cap.counts] }];
  const lane = { default_max_wait_ms: WAIT_MS };
  const { laneId, endpointIds } = await createLane(admin, { name: cap.name, endpoints, lane });
  for (const endpoint_id of endpointIds)
    await admin.create('/api/relay/pricing-policies', { endpoint_id, currency: 'USD', ...PRICES });
  return laneId;
}

async function setCap(admin: AdminClient, kind: 'api-key' | 'team', body: object): Promise<void> {
  const answer = await admin.call('POST', `/api/relay/${kind}-limit-policies`, body);
  if (answer.status !== 200) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
}

/** Puts the key into a team below another one, whose id is returned: its budget counts the key's requests too. */
async function addTeams({
  admin,
  keyId,
}: {
  readonly admin: AdminClient;
  readonly keyId: string;
}): Promise<string> {
  const { id: parentId } = await admin.create('/api/relay/teams', { name: 'Department' });
  const { id: team_id } = await admin.create('/api/relay/teams', { name: 'Group', parent_id: parentId });
  const answer = await admin.call('PUT', `/api/org/api-keys/${keyId}`, { team_id });
  if (answer.status !== 200) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  return parentId;
}

async function addOrganization(fleet: Fleet, name: string) {
  const accounts = openAccounts({ databaseUrl: fleet.postgres.url, authSecret: fleet.authSecret });
  try {
    const organizationId = await accounts.addOrganization({ plan: 'self_hosted', name });
    const userId = await accounts.addMember(organizationId, { role: 'owner' });
    const { key, id } = await accounts.addKey({ organizationId, userId, scopes: allScopes });
    return { key, keyId: id, admin: adminClient(fleet.platform.url, key) };
  } finally {
    await accounts.close();
  }
}
