import assert from 'node:assert/strict';
import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { allScopes } from '@relay/contract';
import { type Accounts, openAccounts } from '../../harness/accounts.ts';
import { type AdminClient, adminClient } from '../../harness/admin-client.ts';
import { startDeployment } from '../../harness/deployment.ts';
import { addObjects, type Objects, untilLedgerReady } from '../../harness/objects.ts';
import type { Manner } from '../manner.ts';

interface Reference {
  readonly line: string;
  /** A body that is good if the id is. */
  readonly body: (id: string, own: Objects) => object;
  /** What the id is of, elsewhere. */
  readonly foreign: keyof Objects;
  readonly param: string;
}

const limit = { metric: 'requests', period: 'month', limit_value: 7, enabled: true };
const budgetTargets = [
  ['provider', 'providerId'],
  ['model', 'endpointId'],
  ['lane', 'laneId'],
] as const;
const boundTo = [
  ['provider', 'providerId'],
  ['endpoint', 'endpointId'],
  ['lane', 'laneId'],
] as const;

/** Every field of a body that names something by its id. */
const references: readonly Reference[] = [
  {
    line: 'POST /api/relay/credentials',
    body: (provider_id) => ({ provider_id, name: 'Foreign', secret: 'sk' }),
    foreign: 'providerId',
    param: 'provider_id',
  },
  {
    line: 'POST /api/relay/endpoints',
    body: (provider_id) => ({ provider_id, name: 'E', upstream_model: 'm', route_kind: 'chat' }),
    foreign: 'providerId',
    param: 'provider_id',
  },
  {
    line: 'POST /api/relay/endpoints',
    body: (credential_id, { providerId }) => ({
      provider_id: providerId,
      credential_id,
      name: 'E',
      upstream_model: 'm',
      route_kind: 'chat',
    }),
    foreign: 'credentialId',
    param: 'credential_id',
  },
  {
    line: 'PUT /api/relay/endpoints/{endpointId}',
    body: (credential_id) => ({ credential_id }),
    foreign: 'credentialId',
    param: 'credential_id',
  },
  {
    line: 'POST /api/relay/pricing-policies',
    body: (endpoint_id) => ({
      endpoint_id,
      input_cost_micros_per_1m_tokens: 1,
      output_cost_micros_per_1m_tokens: 1,
    }),
    foreign: 'endpointId',
    param: 'endpoint_id',
  },
  {
    line: 'POST /api/relay/lane-memberships',
    body: (lane_id, { bareEndpointId }) => ({ lane_id, endpoint_id: bareEndpointId, manual_rank: 1 }),
    foreign: 'laneId',
    param: 'lane_id',
  },
  {
    line: 'POST /api/relay/lane-memberships',
    body: (endpoint_id, { laneId }) => ({ lane_id: laneId, endpoint_id, manual_rank: 1 }),
    foreign: 'endpointId',
    param: 'endpoint_id',
  },
  ...boundTo.map(
    ([target_type, foreign]): Reference => ({
      line: 'PUT /api/relay/guardrails/{guardrailId}/bindings',
      body: (target_id) => ({ bindings: [{ target_type, target_id }] }),
      foreign,
      param: 'bindings[0].target_id',
    }),
  ),
  {
    line: 'POST /api/org/api-keys',
    body: (user_uuid) => ({ user_uuid, name: 'Foreign', scopes: ['relay:request'] }),
    foreign: 'memberId',
    param: 'user_uuid',
  },
  {
    line: 'POST /api/relay/pro/user-limit-policies',
    body: (user_uuid) => ({ user_uuid, target_type: 'global', ...limit }),
    foreign: 'memberId',
    param: 'user_uuid',
  },
  {
    line: 'POST /api/relay/pro/user-limit-policies',
    body: (user_uuid, { userPolicyId }) => ({
      user_uuid,
      limit_uuid: userPolicyId,
      target_type: 'global',
      ...limit,
    }),
    foreign: 'memberId',
    param: 'user_uuid',
  },
  {
    line: 'POST /api/relay/api-key-limit-policies',
    body: (api_key_uuid) => ({ api_key_uuid, target_type: 'global', ...limit }),
    foreign: 'keyId',
    param: 'api_key_uuid',
  },
  ...budgetTargets.flatMap(([target_type, foreign]): Reference[] => [
    {
      line: 'POST /api/relay/pro/user-limit-policies',
      body: (target_id, { memberId }) => ({ user_uuid: memberId, target_type, target_id, ...limit }),
      foreign,
      param: 'target_id',
    },
    {
      line: 'POST /api/relay/api-key-limit-policies',
      body: (target_id, { keyId }) => ({ api_key_uuid: keyId, target_type, target_id, ...limit }),
      foreign,
      param: 'target_id',
    },
  ]),
];

/** Only self-hosted deployments have these. */
const sharedLimits: readonly Reference[] = (
  [
    ['provider', 'providerId'],
    ['credential', 'credentialId'],
    ['endpoint', 'endpointId'],
    ['lane', 'laneId'],
  ] as const
).flatMap(([scope_type, foreign]): Reference[] =>
  ['POST /api/relay/limit-policies', 'PUT /api/relay/limit-policies/{limitPolicyId}'].map((line) => ({
    line,
    body: (scope_id) => ({ scope_type, scope_id, ...limit }),
    foreign,
    param: 'scope_id',
  })),
);

export const foreignIds: readonly Manner[] = [
  {
    name: 'hosted: an id of another organization in a body answers like one that exists nowhere: 404',
    async check() {
      const authSecret = randomBytes(32).toString('base64url');
      const site = await startDeployment({ env: { RELAY_MODE: 'hosted', RELAY_AUTH_SECRET: authSecret } });
      const accounts = openAccounts({ databaseUrl: site.postgres.url, authSecret });
      try {
        await untilLedgerReady(accounts);
        await compare(accounts, site.url, await furnish(accounts), references);
      } finally {
        await accounts.close();
        await site.stop();
      }
    },
  },
  {
    name: 'self-hosted with accounts: an id of another organization in a body answers 404 too',
    async check(site) {
      const authSecret = site.env['RELAY_AUTH_SECRET'] ?? '';
      const accounts = openAccounts({ databaseUrl: site.postgres.url, authSecret });
      try {
        await untilLedgerReady(accounts);
        const { body } = await site.admin.call('GET', '/api/account');
        const { org } = body as { org: { id: string } };
        await compare(accounts, site.url, await furnish(accounts, org.id), [...references, ...sharedLimits]);
      } finally {
        await accounts.close();
      }
    },
  },
];

interface Two {
  readonly own: Objects;
  readonly foreign: Objects;
}

async function furnish(accounts: Accounts, given?: string): Promise<Two> {
  const objects = async (existing?: string) => {
    const organizationId = existing ?? (await accounts.addOrganization({ plan: 'enterprise' }));
    const callerId = await accounts.addMember(organizationId, { role: 'owner' });
    const upstreamUrl = 'https://upstream.example.com/v1';
    const suffix = existing === undefined ? '' : '-own';
    const added = await addObjects(accounts, { organizationId, callerId, upstreamUrl, suffix });
    await accounts.changed(organizationId);
    return added;
  };
  return { own: await objects(given), foreign: await objects() };
}

async function compare(
  accounts: Accounts,
  url: string,
  { own, foreign }: Two,
  tried: readonly Reference[],
): Promise<void> {
  const { organizationId, callerId: userId } = own;
  const { key } = await accounts.addKey({ organizationId, userId, scopes: allScopes });
  const client: AdminClient = adminClient(url, key);
  for (const { line, body, foreign: kind, param } of tried) {
    const [method = '', path = ''] = line.split(' ');
    const at = path.replace(/\{(\w+)\}/, (_, name: keyof Objects) => own[name]);
    const ask = async (id: string) => {
      const answer = await client.call(method, at, body(id, own));
      const { error = {} } = answer.body as { error?: Record<string, unknown> };
      return { status: answer.status, code: error['code'], param: error['param'], message: error['message'] };
    };
    const nowhere = await ask(randomUUIDv7());
    const said = `${line} ${param}: ${JSON.stringify(nowhere)}`;
    assert.deepEqual([nowhere.status, nowhere.code, nowhere.param], [404, 'not_found', param], said);
    assert.deepEqual(await ask(foreign[kind]), nowhere, `${line} ${param} elsewhere`);
  }
}
