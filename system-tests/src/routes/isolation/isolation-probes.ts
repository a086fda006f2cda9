import { allRoutes, headers as headerNames, type RouteId, routes } from '@relay/contract';
import { type Sample, sampleOf } from '../../harness/examples.ts';
import type { Objects } from '../../harness/objects.ts';
import { send } from '../access/send.ts';

/** One of two organizations with the same names for everything. */
export interface Side {
  readonly objects: Objects;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Pair {
  readonly ours: Side;
  readonly theirs: Side;
}

/** A request of one organization that must not read or change the other's objects. */
export interface Probe {
  readonly route: RouteId;
  readonly what: string;
  readonly sample: Sample;
}

/** Required query parameters of a list. */
const needed: Partial<Record<RouteId, Record<string, string>>> = {
  getTimeseries: { metric: 'requests' },
  getWaitDistribution: { lane_id: 'any' },
};

/** Whole, and page by page. */
export function ownLists(): Probe[] {
  return allRoutes
    .filter(({ method, access, params }) => method === 'GET' && access !== 'public' && params === undefined)
    .flatMap(({ id, query }) => {
      const sample = needed[id] === undefined ? {} : { query: needed[id] };
      const paged = query !== undefined && 'limit' in (query as unknown as { properties: object }).properties;
      const whole = { route: id, what: 'own', sample };
      return paged ? [whole, { route: id, what: 'own', sample: { query: { limit: '1' } } }] : [whole];
    });
}

/** Every request of the matrix with an ID in its path, for the other organization's objects. */
export function theirIds({ theirs }: Pair): Probe[] {
  return allRoutes
    .filter(
      ({ id, params, access, plane }) =>
        access !== 'public' &&
        plane === 'management' &&
        (params !== undefined || 'limit_uuid' in (sampleOf[id](theirs.objects).query ?? {})),
    )
    .map(({ id }) => ({ route: id, what: 'their id', sample: sampleOf[id](theirs.objects) }));
}

const limit = { metric: 'tokens', period: 'hour', limit_value: 0, enabled: true };

/** Each body is good except for one id. */
export function theirIdsInBodies({ ours: { objects: our }, theirs: { objects: their } }: Pair): Probe[] {
  const budgetTargets = [
    ['provider', their.providerId],
    ['model', their.endpointId],
    ['lane', their.laneId],
  ].map(([target_type, target_id]) => ({ target_type, target_id, ...limit }));
  const global = { target_type: 'global', ...limit };
  const endpoint = { name: 'Borrowing', upstream_model: 'm', route_kind: 'multi' };
  const price = { input_cost_micros_per_1m_tokens: 0, output_cost_micros_per_1m_tokens: 0 };
  const key = { name: 'Borrowed', scopes: ['relay:request'] };
  const bodies: [RouteId, string, object][] = [
    ['createCredential', 'their provider', { provider_id: their.providerId, name: 'x', secret: 'x' }],
    ['createEndpoint', 'their provider', { ...endpoint, provider_id: their.providerId }],
    [
      'createEndpoint',
      'their credential',
      { ...endpoint, provider_id: our.providerId, credential_id: their.credentialId },
    ],
    [
      'createMembership',
      'their lane',
      { lane_id: their.laneId, endpoint_id: our.bareEndpointId, manual_rank: 1 },
    ],
    [
      'createMembership',
      'their endpoint',
      { lane_id: our.laneId, endpoint_id: their.endpointId, manual_rank: 1 },
    ],
    ['createPricingPolicy', 'their endpoint', { endpoint_id: their.bareEndpointId, ...price }],
    ['createOrgApiKey', 'their member', { user_uuid: their.memberId, ...key }],
    ['upsertUserLimitPolicy', 'their member', { user_uuid: their.memberId, ...global }],
    ['upsertApiKeyLimitPolicy', 'their key', { api_key_uuid: their.keyId, ...global }],
    [
      'upsertUserLimitPolicy',
      'their budget',
      { limit_uuid: their.userPolicyId, user_uuid: our.memberId, ...global },
    ],
    [
      'upsertUserLimitPolicy',
      'their budget and member',
      { limit_uuid: their.userPolicyId, user_uuid: their.memberId, ...global },
    ],
    [
      'upsertUserLimitPolicy',
      'their member for our budget',
      { limit_uuid: our.userPolicyId, user_uuid: their.memberId, ...global },
    ],
    [
      'upsertApiKeyLimitPolicy',
      'their budget',
      {
        limit_uuid: their.keyPolicyId,
        api_key_uuid: our.keyId,
        ...global,
        metric: 'requests',
        period: 'day',
      },
    ],
    ['createTeam', 'their team', { name: 'Borrowing', parent_id: their.teamId }],
    ['createApiKey', 'their team', { ...key, team_id: their.teamId }],
    ['createOrgApiKey', 'their team', { user_uuid: our.memberId, ...key, team_id: their.teamId }],
    ['upsertTeamLimitPolicy', 'their team', { team_uuid: their.teamId, ...global }],
    [
      'upsertTeamLimitPolicy',
      'their budget',
      { limit_uuid: their.spareTeamPolicyId, team_uuid: our.teamId, ...global },
    ],
    ...budgetTargets.flatMap((target): [RouteId, string, object][] => [
      ['upsertUserLimitPolicy', `their ${target.target_type}`, { user_uuid: our.memberId, ...target }],
      ['upsertApiKeyLimitPolicy', `their ${target.target_type}`, { api_key_uuid: our.keyId, ...target }],
      ['upsertTeamLimitPolicy', `their ${target.target_type}`, { team_uuid: our.teamId, ...target }],
    ]),
  ];
  const inPath: Probe[] = [
    {
      route: 'updateEndpoint',
      what: 'their credential',
      sample: { path: [our.endpointId], body: { credential_id: their.credentialId } },
    },
    {
      route: 'updateTeam',
      what: 'their team',
      sample: { path: [our.teamId], body: { name: 'kept', kind: 'team', parent_id: their.teamId } },
    },
    {
      route: 'updateMember',
      what: 'their team',
      sample: { path: [our.memberId], body: { team_id: their.teamId } },
    },
    {
      route: 'updateOrgApiKey',
      what: 'their team',
      sample: { path: [our.memberKeyId], body: { team_id: their.teamId } },
    },
    ...(['provider', 'endpoint', 'lane'] as const).map((target_type): Probe => {
      const body = { bindings: [{ target_type, target_id: their[`${target_type}Id`] }] };
      return {
        route: 'replaceGuardrailBindings',
        what: `their ${target_type}`,
        sample: { path: [our.guardrailId], body },
      };
    }),
    {
      route: 'createChatCompletion',
      what: 'their lane by id',
      sample: { body: { model: their.laneId, messages: [{ role: 'user', content: 'x' }] } },
    },
  ];
  return [...bodies.map(([route, what, body]) => ({ route, what, sample: { body } })), ...inPath];
}

/** Only self-hosted deployments have limits on resources. */
export function theirIdsInSharedLimits({
  ours: { objects: our },
  theirs: { objects: their },
}: Pair): Probe[] {
  return (['provider', 'credential', 'endpoint', 'lane'] as const).flatMap((scope_type): Probe[] => {
    const body = { scope_type, scope_id: their[`${scope_type}Id`], ...limit };
    const what = `their ${scope_type}`;
    return [
      { route: 'createLimitPolicy', what, sample: { body } },
      { route: 'updateLimitPolicy', what, sample: { path: [our.limitPolicyId], body } },
    ];
  });
}

export function theirIdsInFilters({ theirs: { objects: their } }: Pair): Probe[] {
  const filters: [RouteId, Record<string, string>][] = [
    ['listAuditLog', { actor_id: their.callerId }],
    ['listAuditLog', { target_id: their.laneId }],
    ['listAuditLog', { target_type: 'lane' }],
    ['listRequests', { user_uuid: their.callerId }],
    ['listRequests', { lane_id: their.laneId }],
    ['listRequests', { endpoint_id: their.endpointId }],
    ['listRequests', { provider_id: their.providerId }],
    ['listRequests', { api_key_id: their.keyId }],
    ['exportRequests', { user_uuid: their.callerId }],
    ['getLive', { api_key_id: their.keyId }],
    ['listLimitUsage', { user_uuid: their.callerId }],
    ['listLimitUsage', { policy_kind: 'api_key', user_uuid: their.callerId }],
    ['listTeamLimitPolicies', { team_uuid: their.teamId }],
    ['listAlerts', { policy_id: their.limitPolicyId }],
    ['getWaitDistribution', { lane_id: their.laneId }],
    ['getTimeseries', { metric: 'requests', group_by: 'lane', lane_id: their.laneId }],
    ['getTimeseries', { metric: 'requests', group_by: 'user' }],
  ];
  return filters.map(([route, query]) => ({ route, what: JSON.stringify(query), sample: { query } }));
}

/** The other organization's cursors, at its first object and at the start of the list. */
export async function theirCursors(url: string, { theirs }: Pair): Promise<Probe[]> {
  const probes: Probe[] = [];
  for (const { route, sample } of ownLists().filter(({ sample: { query } }) => query?.['limit'] === '1')) {
    const answer = await send(url, routes[route], sample, theirs.headers);
    const inBody = (answer.body as { next_cursor?: unknown } | null)?.next_cursor;
    const cursor = answer.headers.get(headerNames.nextCursor) ?? (typeof inBody === 'string' ? inBody : null);
    if (cursor !== null)
      probes.push({ route, what: 'their cursor', sample: { query: { limit: '1000', cursor } } });
  }
  return probes;
}
