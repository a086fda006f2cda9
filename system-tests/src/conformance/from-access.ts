import { type SpecRoute, type SpecRuleId, specRules } from '@relay/contract/specification';
import { mintKey } from '../harness/accounts.ts';
import type { Objects } from '../harness/objects.ts';
import { until } from '../harness/until.ts';
import { addressOf, bodyOf, bodySent, noIds, routeOf, servedIn, specRoutes, tryRoute } from './calls.ts';
import { expect, expectStatus } from './expectation.ts';
import { everywhere, type Mode } from './mode.ts';
import { type Ids, objects } from './objects.ts';
import { keyWith, newKey } from './people.ts';
import type { Site } from './site.ts';
import type { Statement } from './statement.ts';

// Sections 5.1 and 7: every route with a key that is missing, wrong, past or too narrow, and with ids that lead nowhere.

type KeyOf = (site: Site) => Promise<string | null>;

interface BadKey {
  readonly name: string;
  readonly id: SpecRuleId;
  readonly keyOf: KeyOf;
  readonly appliesIn: (mode: Mode) => boolean;
}

const badKeys: readonly BadKey[] = [
  {
    name: 'without Authorization',
    id: '5.1',
    keyOf: () => Promise.resolve(null),
    appliesIn: everywhere,
  },
  {
    name: 'with a key that does not exist',
    id: '7 401',
    keyOf: (site) => site.once('unknown key', async () => mintKey().key),
    appliesIn: everywhere,
  },
  { name: 'with a revoked key', id: '7 401', keyOf: revokedKey, appliesIn: everywhere },
  { name: 'with an expired key', id: '7 401', keyOf: expiredKey, appliesIn: everywhere },
];

const EVERYTHING = ['relay:request', 'relay:providers:manage', 'cloud:account:manage', 'relay:limits:manage'];
const EXPIRY_MS = 1_000;

function revokedKey(site: Site): Promise<string> {
  return site.once('revoked key', async () => {
    const { id, secret } = await newKey(site, EVERYTHING);
    expectStatus(await site.call('DELETE', `/api/account/api-keys/${id}`), 204);
    return secret;
  });
}

/** Its end is a second away when it is made, and is waited for. */
function expiredKey(site: Site): Promise<string> {
  return site.once('expired key', async () => {
    const expires_at = new Date(Date.now() + EXPIRY_MS).toISOString();
    const { secret } = await newKey(site, EVERYTHING, { expires_at });
    const ended = async () => (await site.call('GET', '/api/account', { key: secret })).status !== 200;
    expect(await until(ended, 5 * EXPIRY_MS), `a key that expired at ${expires_at} to be refused`, '200');
    return secret;
  });
}

function refusedKeys(route: SpecRoute): readonly Statement[] {
  return badKeys.map(({ name, id, keyOf, appliesIn }) => ({
    id,
    says: `${route.line} ${name} answers 401`,
    quote: specRules[id],
    appliesIn,
    async check(site: Site) {
      expectStatus(await tryRoute(site, route, { key: await keyOf(site) }), 401);
    },
  }));
}

/** Individual limits and one's own account are read with any key: what they show depends on the caller (5.6). */
const openToAnyKey = [
  'GET /api/account',
  'GET /api/relay/pro/user-limit-policies',
  'GET /api/relay/api-key-limit-policies',
];

function refusedScope(route: SpecRoute): readonly Statement[] {
  if (openToAnyKey.includes(route.line)) return [];
  const held = route.server === '{base_url}' ? 'cloud:account:manage' : 'relay:request';
  return [
    {
      id: '7 403',
      says: `${route.line} with a key that holds ${held} alone answers 403`,
      quote: specRules['7 403'],
      appliesIn: everywhere,
      async check(site) {
        const { secret } = await keyWith(site, held);
        expectStatus(await tryRoute(site, route, { key: secret }), 403);
      },
    },
  ];
}

const foreignOf: Readonly<Record<keyof Ids, keyof Objects>> = {
  api_key_id: 'keyId',
  group_id: 'laneId',
  membership_id: 'membershipId',
  guardrail_id: 'guardrailId',
  policy_id: 'limitPolicyId',
  endpoint_id: 'endpointId',
  user_limit_uuid: 'userPolicyId',
  key_limit_uuid: 'keyPolicyId',
};

function lostIds(route: SpecRoute): readonly Statement[] {
  if (!route.path.includes('{') && route.queryParameters === undefined) return [];
  const cases: readonly (readonly [string, (site: Site) => Ids])[] = [
    ['an id that nothing has', () => noIds],
    ['the id of something in another organization', ({ foreign }) => foreignIds(foreign)],
  ];
  return cases.map(([what, idsOf]) => ({
    id: '7 404',
    says: `${route.line} with ${what} answers 404`,
    quote: specRules['7 404'],
    appliesIn: servedIn(route),
    async check(site: Site) {
      const { ids } = await objects(site, 'kept');
      const sent = bodySent(site, route, ids, 'kept');
      expectStatus(await site.call(route.method, addressOf(route, idsOf(site)), sent), 404);
    },
  }));
}

/** Bodies that name something of another organization. */
const foreignBodies: readonly (readonly [line: string, field: string, kind: keyof Objects])[] = [
  ['POST /api/relay/lane-memberships', 'lane_id', 'laneId'],
  ['POST /api/relay/lane-memberships', 'endpoint_id', 'endpointId'],
  ['POST /api/relay/pro/user-limit-policies', 'user_uuid', 'memberId'],
  ['POST /api/relay/api-key-limit-policies', 'api_key_uuid', 'keyId'],
];

const lostInBodies = foreignBodies.map(([line, field, kind]): Statement => {
  const route = routeOf(line);
  return {
    id: '7 404',
    says: `${line} with the ${field} of another organization answers 404`,
    quote: specRules['7 404'],
    appliesIn: servedIn(route),
    async check(site) {
      const { ids } = await objects(site, 'kept');
      const body = { ...bodyOf(site, route, ids, 'kept'), [field]: site.foreign[kind] };
      expectStatus(await tryRoute(site, route, { body }), 404);
    },
  };
});

function foreignIds(foreign: Objects): Ids {
  const entries = Object.entries(foreignOf).map(([name, kind]) => [name, foreign[kind]]);
  return { ...noIds, ...(Object.fromEntries(entries) as Partial<Ids>) };
}

export const accessStatements: readonly Statement[] = [
  ...specRoutes.flatMap((route) => [...refusedKeys(route), ...refusedScope(route), ...lostIds(route)]),
  ...lostInBodies,
];
