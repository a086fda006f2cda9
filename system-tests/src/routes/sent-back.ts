import { isDeepStrictEqual } from 'node:util';
import { allRoutes, type RouteId, versionRead, volatileFields } from '@relay/contract';
import type { paths } from '@relay/contract/api-types';
import createClient, { type Client } from 'openapi-fetch';
import type { Caller } from './answer.ts';
import type { Made } from './repeats.ts';
import { answerIn } from './served.ts';
import type { World } from './world.ts';

// Reads every resource and sends it back as it was read, with the types of `openapi.json`: that it compiles shows that
// the document takes back what it returns.

type Relay = Client<paths>;

/** What openapi-fetch returns. */
interface Result<Data> {
  readonly data?: Data | undefined;
  readonly error?: unknown;
  readonly response: Response;
}

/** The version, as `If-Match` takes it. */
interface Versioned {
  readonly header: { readonly 'If-Match': string };
}

interface Read<Resource> {
  readonly result: Result<unknown>;
  readonly resource: Resource | undefined;
  readonly version: string | null | undefined;
}

interface Round {
  readonly route: RouteId;
  read(): Promise<Read<unknown>>;
  /** Sends back what `read` returned. */
  write(read: Read<unknown>, version: Versioned): Promise<Result<unknown>>;
}

function round<Resource>(
  route: RouteId,
  read: () => Promise<Read<Resource>>,
  write: (resource: Resource, version: Versioned) => Promise<Result<unknown>>,
): Round {
  return { route, read, write: ({ resource }, version) => write(resource as Resource, version) };
}

async function alone<Resource>(reading: Promise<Result<Resource>>): Promise<Read<Resource>> {
  const result = await reading;
  return { result, resource: result.data, version: result.response.headers.get('etag') };
}

async function listed<Row extends { readonly id: string; readonly etag: string }>(
  reading: Promise<Result<readonly Row[]>>,
  id: string,
): Promise<Read<Row>> {
  const result = await reading;
  const resource = result.data?.find((row) => row.id === id);
  return { result, resource, version: resource?.etag };
}

async function rowsOf<Data, Row>(
  reading: Promise<Result<Data>>,
  rows: (data: Data) => readonly Row[],
): Promise<Result<readonly Row[]>> {
  const { data, ...others } = await reading;
  return data === undefined ? others : { ...others, data: rows(data) };
}

function accountRounds(relay: Relay, made: Made, memberId: string): readonly Round[] {
  const account = () => alone(relay.GET('/api/account'));
  const ownKeys = () => rowsOf(relay.GET('/api/account/api-keys'), ({ api_keys }) => api_keys);
  return [
    round('updateAccount', account, ({ user }, params) =>
      relay.PATCH('/api/account', { params, body: user }),
    ),
    round('updatePreferences', account, ({ user }, params) =>
      relay.PATCH('/api/account/preferences', { params, body: user }),
    ),
    round(
      'renameApiKey',
      () => listed(ownKeys(), made.key),
      (body, version) => {
        const path = { api_key_id: made.key };
        return relay.PATCH('/api/account/api-keys/{api_key_id}', { params: { path, ...version }, body });
      },
    ),
    round(
      'updateOrg',
      () => alone(relay.GET('/api/org')),
      (body, params) => relay.PATCH('/api/org', { params, body }),
    ),
    round(
      'updateMember',
      () => listed(relay.GET('/api/org/members'), memberId),
      (body, version) => {
        const path = { user_id: memberId };
        return relay.PATCH('/api/org/members/{user_id}', { params: { path, ...version }, body });
      },
    ),
    round(
      'updateOrgApiKey',
      () => listed(relay.GET('/api/org/api-keys'), made.memberKey),
      (body, version) => {
        const path = { api_key_id: made.memberKey };
        return relay.PUT('/api/org/api-keys/{api_key_id}', { params: { path, ...version }, body });
      },
    ),
  ];
}

function routingRounds(relay: Relay, made: Made): readonly Round[] {
  const provider = { path: { provider_id: made.provider } };
  const endpoint = { path: { endpoint_id: made.endpoint } };
  const lane = { path: { group_id: made.lane } };
  const membership = { path: { membership_id: made.membership } };
  return [
    round(
      'updateProvider',
      () => alone(relay.GET('/api/relay/providers/{provider_id}', { params: provider })),
      (body, version) =>
        relay.PUT('/api/relay/providers/{provider_id}', { params: { ...provider, ...version }, body }),
    ),
    round(
      'updateCredential',
      () => listed(relay.GET('/api/relay/credentials'), made.credential),
      (body, version) => {
        const path = { credential_id: made.credential };
        return relay.PUT('/api/relay/credentials/{credential_id}', { params: { path, ...version }, body });
      },
    ),
    round(
      'updateEndpoint',
      () => alone(relay.GET('/api/relay/endpoints/{endpoint_id}', { params: endpoint })),
      (body, version) =>
        relay.PUT('/api/relay/endpoints/{endpoint_id}', { params: { ...endpoint, ...version }, body }),
    ),
    round(
      'updateLane',
      () => alone(relay.GET('/api/relay/routing-lanes/{group_id}', { params: lane })),
      (body, version) =>
        relay.PUT('/api/relay/routing-lanes/{group_id}', { params: { ...lane, ...version }, body }),
    ),
    round(
      'updateMembership',
      () => alone(relay.GET('/api/relay/lane-memberships/{membership_id}', { params: membership })),
      (body, version) =>
        relay.PUT('/api/relay/lane-memberships/{membership_id}', {
          params: { ...membership, ...version },
          body,
        }),
    ),
    round(
      'updatePricingPolicy',
      () => listed(relay.GET('/api/relay/pricing-policies'), made.pricingPolicy),
      (body, version) => {
        const path = { pricing_policy_id: made.pricingPolicy };
        const params = { path, ...version };
        return relay.PUT('/api/relay/pricing-policies/{pricing_policy_id}', { params, body });
      },
    ),
  ];
}

function guardRounds(relay: Relay, made: Made): readonly Round[] {
  const guardrail = { path: { guardrail_id: made.guardrail } };
  const destination = { path: { destination_id: made.alertDestination } };
  const bindings = '/api/relay/guardrails/{guardrail_id}/bindings';
  return [
    round(
      'updateGuardrail',
      () => alone(relay.GET('/api/relay/guardrails/{guardrail_id}', { params: guardrail })),
      (read, version) =>
        relay.PUT('/api/relay/guardrails/{guardrail_id}', {
          params: { ...guardrail, ...version },
          body: read.guardrail,
        }),
    ),
    round(
      'replaceGuardrailBindings',
      () => alone(relay.GET(bindings, { params: guardrail })),
      (read, version) =>
        relay.PUT(bindings, { params: { ...guardrail, ...version }, body: { bindings: read } }),
    ),
    round(
      'updateAlertDestination',
      () => alone(relay.GET('/api/relay/alert-destinations/{destination_id}', { params: destination })),
      (body, version) =>
        relay.PUT('/api/relay/alert-destinations/{destination_id}', {
          params: { ...destination, ...version },
          body,
        }),
    ),
  ];
}

function limitRounds(relay: Relay, made: Made): readonly Round[] {
  const policy = { path: { policy_id: made.limitPolicy } };
  const team = { path: { team_id: made.team } };
  const users = '/api/relay/pro/user-limit-policies';
  const keys = '/api/relay/api-key-limit-policies';
  const teams = '/api/relay/team-limit-policies';
  return [
    round(
      'updateLimitPolicy',
      () => alone(relay.GET('/api/relay/limit-policies/{policy_id}', { params: policy })),
      (body, version) =>
        relay.PUT('/api/relay/limit-policies/{policy_id}', { params: { ...policy, ...version }, body }),
    ),
    round(
      'updateTeam',
      () => alone(relay.GET('/api/relay/teams/{team_id}', { params: team })),
      (body, version) => relay.PUT('/api/relay/teams/{team_id}', { params: { ...team, ...version }, body }),
    ),
    round(
      'upsertUserLimitPolicy',
      () =>
        listed(
          rowsOf(relay.GET(users), ({ policies }) => policies),
          made.userPolicy,
        ),
      (body, params) => relay.POST(users, { params, body }),
    ),
    round(
      'upsertApiKeyLimitPolicy',
      () =>
        listed(
          rowsOf(relay.GET(keys), ({ policies }) => policies),
          made.keyPolicy,
        ),
      (body, params) => relay.POST(keys, { params, body }),
    ),
    round(
      'upsertTeamLimitPolicy',
      () =>
        listed(
          rowsOf(relay.GET(teams), ({ policies }) => policies),
          made.teamPolicy,
        ),
      (body, params) => relay.POST(teams, { params, body }),
    ),
  ];
}

/** What a read returned can be sent back under the version it returned, and changes nothing. An older version is rejected. */
export async function sendBack({ walk, memberId }: World, caller: Caller, made: Made): Promise<void> {
  const relay = createClient<paths>({ baseUrl: walk.url, headers: caller.headers });
  const rounds = [
    ...accountRounds(relay, made, memberId),
    ...routingRounds(relay, made),
    ...guardRounds(relay, made),
    ...limitRounds(relay, made),
  ];
  for (const each of rounds) {
    const { route } = each;
    const usual = String(allRoutes.find(({ id }) => id === route)?.success.status);
    const first = await each.read();
    if (summaryOf(first.result) !== '200') {
      // A resource that this mode lacks is refused by its read, too.
      if (answerIn(walk.mode, route, usual) !== summaryOf(first.result))
        walk.fault(`${route}: ${summaryOf(first.result)}`);
      continue;
    }
    if (!/^"[^"]+"$/.test(first.version ?? ''))
      walk.fault(`${route}: its read returned version ${first.version}`);
    const expect = async (version: string, expected: string) => {
      const written = summaryOf(await each.write(first, { header: { 'If-Match': version } }));
      if (written !== answerIn(walk.mode, route, expected))
        walk.fault(`${route}: what was read is ${written} when it is sent back with ${version}`);
    };
    await expect(first.version ?? '', usual);
    await expect('"none"', '412 version_conflict');
    const second = await each.read();
    if (second.version !== first.version)
      walk.fault(`${route}: what was read makes version ${second.version}`);
    if (!isDeepStrictEqual(stable(second.resource), stable(first.resource)))
      walk.fault(`${route}: what was read is now ${JSON.stringify(second.resource)}`);
  }
  for (const missed of roundsMissed(rounds)) walk.fault(missed);
}

/** A change that takes `If-Match` and is not tried here fails the suite. */
function roundsMissed(rounds: readonly Round[]): string[] {
  const tried = new Set(rounds.map(({ route }) => route));
  return allRoutes
    .filter((route) => versionRead(route) !== null && route.body !== undefined && !tried.has(route.id))
    .map(({ id }) => `${id} was not sent back`);
}

function stable(resource: unknown): unknown {
  if (typeof resource !== 'object' || resource === null) return resource;
  return Object.fromEntries(Object.entries(resource).filter(([field]) => !volatileFields.has(field)));
}

function summaryOf({ response, error }: Result<unknown>): string {
  if (response.ok) return String(response.status);
  const { code } = (error as { error?: { code?: unknown } } | undefined)?.error ?? {};
  return `${response.status} ${String(code ?? 'without a code')}`;
}

/** An upsert that would create a limit matches no version. */
export async function createOnVersion({ walk, memberId }: World, caller: Caller, made: Made): Promise<void> {
  const limit = { target_type: 'global', metric: 'tokens', period: 'month', limit_value: 9 };
  const bodies = {
    'pro/user-limit-policies': { user_uuid: memberId, ...limit },
    'api-key-limit-policies': { api_key_uuid: made.key, ...limit },
    'team-limit-policies': { team_uuid: made.team, ...limit },
  };
  for (const [path, body] of Object.entries(bodies)) {
    for (const version of ['"1"', '"none"', '*']) {
      const sending = { body, headers: { 'if-match': version } };
      await walk.expect(caller, `POST /api/relay/${path}`, '412 version_conflict', sending);
    }
  }
}
