import { allRoutes } from '@relay/contract';
import type { Objects } from '../harness/objects.ts';
import { type Caller, NO_ID } from './answer.ts';
import { routeOf } from './route-of.ts';
import type { World } from './world.ts';

interface IdRoute {
  /** With `{}` where the id goes. */
  readonly line: string;
  /** The id of one that exists, in another organization. */
  readonly foreign: keyof Objects;
  readonly body?: object;
}

const lane = { name: 'Lane', default_max_wait_ms: 200, allow_fallback: true, enabled: true };
const limit = { metric: 'requests', period: 'month', limit_value: 1, enabled: true };
const text = { text: 'Hello.' };

/** Every route that names something by its id, with a body that is good but for that. */
const idRoutes: readonly IdRoute[] = [
  { line: 'PATCH /api/account/api-keys/{}', foreign: 'keyId', body: { name: 'Renamed' } },
  { line: 'DELETE /api/account/api-keys/{}', foreign: 'keyId' },
  { line: 'PATCH /api/org/members/{}', foreign: 'memberId', body: { role: 'viewer' } },
  { line: 'DELETE /api/org/members/{}', foreign: 'memberId' },
  { line: 'DELETE /api/org/invitations/{}', foreign: 'invitationId' },
  { line: 'DELETE /api/org/api-keys/{}', foreign: 'memberKeyId' },
  { line: 'PUT /api/org/api-keys/{}', foreign: 'memberKeyId', body: { labels: { app: 'other' } } },
  { line: 'GET /api/relay/providers/{}', foreign: 'providerId' },
  { line: 'PUT /api/relay/providers/{}', foreign: 'providerId', body: { name: 'Renamed' } },
  { line: 'DELETE /api/relay/providers/{}', foreign: 'spareProviderId' },
  { line: 'POST /api/relay/providers/{}/test', foreign: 'providerId' },
  { line: 'PUT /api/relay/credentials/{}', foreign: 'credentialId', body: { name: 'Renamed' } },
  { line: 'DELETE /api/relay/credentials/{}', foreign: 'credentialId' },
  { line: 'PUT /api/relay/pricing-policies/{}', foreign: 'pricingPolicyId', body: {} },
  { line: 'DELETE /api/relay/pricing-policies/{}', foreign: 'pricingPolicyId' },
  { line: 'GET /api/relay/endpoints/{}', foreign: 'endpointId' },
  { line: 'PUT /api/relay/endpoints/{}', foreign: 'endpointId', body: { name: 'Renamed' } },
  { line: 'DELETE /api/relay/endpoints/{}', foreign: 'endpointId' },
  { line: 'POST /api/relay/endpoints/{}/test', foreign: 'endpointId' },
  { line: 'GET /api/relay/routing-lanes/{}', foreign: 'laneId' },
  { line: 'PUT /api/relay/routing-lanes/{}', foreign: 'laneId', body: lane },
  { line: 'DELETE /api/relay/routing-lanes/{}', foreign: 'laneId' },
  { line: 'GET /api/relay/lane-memberships/{}', foreign: 'membershipId' },
  {
    line: 'PUT /api/relay/lane-memberships/{}',
    foreign: 'membershipId',
    body: { manual_rank: 1, enabled: true },
  },
  { line: 'DELETE /api/relay/lane-memberships/{}', foreign: 'membershipId' },
  { line: 'GET /api/relay/guardrails/{}', foreign: 'guardrailId' },
  { line: 'PUT /api/relay/guardrails/{}', foreign: 'guardrailId', body: { name: 'Renamed' } },
  { line: 'DELETE /api/relay/guardrails/{}', foreign: 'guardrailId' },
  { line: 'GET /api/relay/guardrails/{}/bindings', foreign: 'guardrailId' },
  { line: 'PUT /api/relay/guardrails/{}/bindings', foreign: 'guardrailId', body: { bindings: [] } },
  { line: 'GET /api/relay/guardrails/{}/stats', foreign: 'guardrailId' },
  { line: 'POST /api/relay/guardrails/{}/test', foreign: 'guardrailId', body: text },
  { line: 'GET /api/relay/limit-policies/{}', foreign: 'limitPolicyId' },
  {
    line: 'PUT /api/relay/limit-policies/{}',
    foreign: 'limitPolicyId',
    body: { scope_type: 'global', ...limit },
  },
  { line: 'DELETE /api/relay/limit-policies/{}', foreign: 'limitPolicyId' },
  { line: 'GET /api/relay/alert-destinations/{}', foreign: 'alertDestinationId' },
  {
    line: 'PUT /api/relay/alert-destinations/{}',
    foreign: 'alertDestinationId',
    body: { name: 'Renamed' },
  },
  { line: 'DELETE /api/relay/alert-destinations/{}', foreign: 'alertDestinationId' },
  { line: 'POST /api/relay/alert-destinations/{}/test', foreign: 'alertDestinationId' },
  { line: 'DELETE /api/relay/pro/user-limit-policies?limit_uuid={}', foreign: 'userPolicyId' },
  { line: 'DELETE /api/relay/api-key-limit-policies?limit_uuid={}', foreign: 'keyPolicyId' },
  { line: 'GET /api/relay/teams/{}', foreign: 'teamId' },
  { line: 'PUT /api/relay/teams/{}', foreign: 'teamId', body: { name: 'Renamed', kind: 'team' } },
  { line: 'DELETE /api/relay/teams/{}', foreign: 'spareTeamId' },
  { line: 'DELETE /api/relay/team-limit-policies?limit_uuid={}', foreign: 'spareTeamPolicyId' },
  { line: 'GET /api/relay/requests/{}', foreign: 'requestId' },
  { line: 'GET /api/relay/requests/{}/limits', foreign: 'requestId' },
];

/** Those of the contract that are not tried here. That of sessions is tried with one. */
export function idRoutesMissed(): string[] {
  const tried = idRoutes.map(({ line }) => routeOf(line));
  return allRoutes
    .filter(({ plane, params, query }) => plane === 'management' && (params ?? query) !== undefined)
    .filter(({ params, query }) => params !== undefined || JSON.stringify(query).includes('limit_uuid'))
    .filter(({ id }) => !tried.includes(id) && id !== 'revokeSession')
    .map(({ id }) => id);
}

const malformed = ['not-an-id', '1', `${NO_ID}0`, NO_ID.replaceAll('-', ''), '%00', '%F0%9F%99%82'];

/** Whether something is elsewhere, was never there or cannot be there is not told apart. */
export async function askForUnknown({ walk, foreign, memberId }: World, caller: Caller): Promise<void> {
  for (const { line, foreign: kind, body } of idRoutes) {
    for (const id of [foreign[kind], NO_ID, ...malformed])
      await walk.expect(caller, line.replace('{}', id), '404 not_found', () => [], { body });
    // A query is checked like a body; a path as long as this leads nowhere, whatever the mode.
    const { summary } = await walk.send(caller, line.replace('{}', 'x'.repeat(101)), { body });
    const expected = line.includes('?') ? '400 invalid_request' : '404 not_found';
    if (summary !== expected) walk.fault(`${line} with a long id is ${summary} instead of ${expected}`);
  }
  const budget = { target_type: 'global', ...limit };
  for (const limit_uuid of [NO_ID, 'not-an-id', foreign.userPolicyId]) {
    const body = { limit_uuid, user_uuid: memberId, ...budget };
    await walk.expect(caller, 'POST /api/relay/pro/user-limit-policies', '404 not_found', () => [], { body });
  }
  for (const limit_uuid of [NO_ID, 'not-an-id', foreign.keyPolicyId]) {
    const body = { limit_uuid, api_key_uuid: foreign.keyId, ...budget };
    await walk.expect(caller, 'POST /api/relay/api-key-limit-policies', '404 not_found', () => [], { body });
  }
  for (const limit_uuid of [NO_ID, 'not-an-id', foreign.spareTeamPolicyId]) {
    const body = { limit_uuid, team_uuid: foreign.teamId, ...budget };
    await walk.expect(caller, 'POST /api/relay/team-limit-policies', '404 not_found', () => [], { body });
  }
}
