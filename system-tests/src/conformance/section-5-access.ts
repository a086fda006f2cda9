import { allScopes, type Scope } from '@relay/contract';
import { type SpecRoute, specInferenceRoutes, specScopes } from '@relay/contract/specification';
import { ask } from './asks.ts';
import { routeOf, servedIn, tryRoute } from './calls.ts';
import { type Answer, at, textAt } from './exchange.ts';
import { expect, expectEqual, expectStatus } from './expectation.ts';
import { everywhere, onlyHosted, selfHosted, withMembers } from './mode.ts';
import { keyWith, memberOf, newKey, type Person, workload } from './people.ts';
import type { Site } from './site.ts';
import { rule, type Statement } from './statement.ts';

const bearer: readonly Statement[] = (
  [
    ['another scheme', (key: string) => ({ authorization: `Basic ${btoa(`key:${key}`)}` })],
    ['the key without a scheme', (key: string) => ({ authorization: key })],
    ['the key in x-api-key', (key: string) => ({ 'x-api-key': key })],
  ] as const
).flatMap(([what, headersOf]) =>
  (
    [
      ['/api/relay/providers', ({ adminKey }: Site) => adminKey],
      ['/v1/models', ({ apiKey }: Site) => apiKey],
    ] as const
  ).map(([path, keyOf]) =>
    rule('5.1', `GET ${path} with ${what} answers 401`, async (site) => {
      const headers = headersOf(keyOf(site));
      expectStatus(await site.call('GET', path, { key: null, headers }), 401);
    }),
  ),
);

const newProvider = (name: string) => ({
  body: { name, base_url: 'https://upstream.example.com/v1', auth_mode: 'none', enabled: true },
});

const patchMember = async (site: Site, { userId }: Person, body: object): Promise<void> =>
  expectStatus(await site.call('PATCH', `/api/org/members/${userId}`, { body }), 200);

/** A member who may, then may not, and what their key gets before and after. */
async function lose(site: Site, change: object): Promise<readonly Answer[]> {
  const member = await memberOf(site, 'admin');
  const { secret } = await newKey(member, ['relay:providers:manage', 'relay:request']);
  const before = await site.call('GET', '/v1/models', { key: secret });
  expectStatus(before, 200);
  expectStatus(
    await site.call('POST', '/api/relay/providers', { key: secret, ...newProvider('Before') }),
    201,
  );
  await patchMember(site, member, change);
  return [
    await site.call('POST', '/api/relay/providers', { key: secret, ...newProvider('After') }),
    await ask(site, 'plain', { key: secret }),
  ];
}

const intersection: readonly Statement[] = (
  [
    [
      'a key authenticates as its owner',
      async (site) => {
        const { member, key } = await workload(site, 'developer', ['relay:request']);
        const account = await site.call('GET', '/api/account', { key: key.secret });
        expectEqual(textAt(account, 'user.id'), member.userId, 'the user');
        expectEqual(textAt(account, 'role'), 'developer', 'the role');
      },
    ],
    [
      'permission removals apply immediately on management: a lower role answers 403',
      async (site) => {
        const [managed] = await site.once('demotion', () => lose(site, { role: 'viewer' }));
        expectStatus(managed as Answer, 403);
      },
    ],
    [
      'permission removals apply immediately on inference: a lower role answers 403',
      async (site) => {
        const [, inferred] = await site.once('demotion', () => lose(site, { role: 'viewer' }));
        expectStatus(inferred as Answer, 403);
      },
    ],
    [
      'permission removals apply immediately on management: a suspended owner of the key answers 403',
      async (site) => {
        const [managed] = await site.once('suspension', () => lose(site, { status: 'suspended' }));
        expectStatus(managed as Answer, 403);
      },
    ],
    [
      'permission removals apply immediately on inference: a suspended owner of the key answers 403',
      async (site) => {
        const [, inferred] = await site.once('suspension', () => lose(site, { status: 'suspended' }));
        expectStatus(inferred as Answer, 403);
      },
    ],
    [
      'new grants require a new key: an old key does not gain by a higher role',
      async (site) => {
        const member = await memberOf(site, 'viewer');
        const old = await newKey(member, ['relay:providers:read']);
        await patchMember(site, member, { role: 'admin' });
        const answer = await site.call('POST', '/api/relay/providers', {
          key: old.secret,
          ...newProvider('Not yet'),
        });
        expectStatus(answer, 403);
      },
    ],
    [
      'new grants require a new key: a new key has what the higher role gives',
      async (site) => {
        const member = await memberOf(site, 'viewer');
        await patchMember(site, member, { role: 'admin' });
        const { secret } = await newKey(member, ['relay:providers:manage']);
        const call = { key: secret, ...newProvider('By a new key') };
        expectStatus(await site.call('POST', '/api/relay/providers', call), 201);
      },
    ],
    [
      'a key cannot be given what its owner lacks',
      async (site) => {
        const { member } = await workload(site, 'developer', ['relay:request']);
        const body = { name: 'Too much', scopes: ['relay:providers:manage'] };
        expectStatus(await member.call('POST', '/api/account/api-keys', { body }), 403);
      },
    ],
  ] satisfies readonly (readonly [string, Statement['check']])[]
).map(([says, check]) => rule('5.2', says, check, withMembers));

/** A key of an owner whose organization has this plan. */
function onPlan(site: Site, plan: 'closed' | 'free'): Promise<string> {
  return site.once(`key on plan ${plan}`, async () => {
    const organizationId = await site.accounts.addOrganization({ plan });
    const userId = await site.accounts.addMember(organizationId, { role: 'owner' });
    return (await site.accounts.addKey({ organizationId, userId, scopes: allScopes })).key;
  });
}

const guardrailBody = { name: 'Withheld', base_url: 'https://guardrail.example.com/check' };

const plans: readonly Statement[] = [
  rule(
    '5.2',
    'plan entitlements: a plan without guardrails answers 403 to their creation',
    async (site) => {
      const key = await onPlan(site, 'free');
      expectStatus(await site.call('POST', '/api/relay/guardrails', { key, body: guardrailBody }), 403);
    },
    onlyHosted,
  ),
  ...(
    [
      ['GET', '/v1/models'],
      ['GET', '/api/relay/providers'],
    ] as const
  ).map(([method, path]) =>
    rule(
      '7 403',
      `${method} ${path} without product access answers 403`,
      async (site) => expectStatus(await site.call(method, path, { key: await onPlan(site, 'closed') }), 403),
      onlyHosted,
    ),
  ),
];

/** Routes for which rule 3 and section 8 name the scope, with that scope alone. */
const named: readonly (readonly [scope: Scope, lines: readonly string[]])[] = [
  ['relay:request', specInferenceRoutes.map(({ line }) => line)],
  ['relay:providers:read', ['GET /api/relay/providers']],
  ['relay:providers:manage', ['GET /api/relay/providers', 'POST /api/relay/providers']],
  [
    'cloud:account:manage',
    [
      'GET /api/account/api-keys',
      'GET /api/account/api-key-scopes',
      'PATCH /api/account/api-keys/{api_key_id}',
    ],
  ],
  ['relay:limits:read:organization', ['GET /api/relay/limit-policies']],
  [
    'relay:limits:manage',
    [
      'PUT /api/relay/limit-policies/{policy_id}',
      'POST /api/relay/pro/user-limit-policies',
      'POST /api/relay/api-key-limit-policies',
    ],
  ],
];

/** The budgets of the kept set exist already, so a second one of the same kind is a conflict and not a refusal. */
const accepted = (route: SpecRoute): readonly number[] =>
  route.line.endsWith('-limit-policies') && route.method === 'POST' ? [route.status, 409] : [route.status];

const sufficient = named.flatMap(([scope, lines]) =>
  lines.map((line) => {
    const route = routeOf(line);
    const id = scope.startsWith('relay:limits') ? '8.7' : '5.3';
    return rule(
      id,
      `${scope} suffices for ${line}`,
      async (site) => {
        const { secret } = await keyWith(site, scope);
        expectStatus(await tryRoute(site, route, { key: secret }), ...accepted(route));
      },
      servedIn(route),
    );
  }),
);

const scopes: readonly Statement[] = [
  ...specScopes.map((scope) =>
    rule(
      '5.3',
      `a key can hold ${scope}`,
      async (site) => {
        const { made } = await keyWith(site, scope);
        expect((at(made.body, 'key.scopes') as string[]).includes(scope), scope, made);
      },
      everywhere,
    ),
  ),
  rule(
    '5.3',
    'a key made with relay:providers:manage lists relay:providers:read and relay:providers:manage',
    async (site) => {
      const { made } = await keyWith(site, 'relay:providers:manage');
      const held = (at(made.body, 'key.scopes') as string[]).toSorted();
      expectEqual(held, ['relay:providers:manage', 'relay:providers:read'], 'the scopes');
    },
    everywhere,
  ),
  rule(
    '5.3',
    'relay:providers:read does not suffice for POST /api/relay/providers',
    async (site) => {
      const { secret } = await keyWith(site, 'relay:providers:read');
      expectStatus(
        await site.call('POST', '/api/relay/providers', { key: secret, ...newProvider('No') }),
        403,
      );
    },
    everywhere,
  ),
  rule(
    '8.7',
    'relay:limits:read:organization does not suffice for POST /api/relay/api-key-limit-policies',
    async (site) => {
      const { secret } = await keyWith(site, 'relay:limits:read:organization');
      const route = routeOf('POST /api/relay/api-key-limit-policies');
      expectStatus(await tryRoute(site, route, { key: secret }), 403);
    },
    everywhere,
  ),
  rule(
    '8.7',
    'relay:limits:read:organization does not suffice for POST /api/relay/limit-policies',
    async (site) => {
      const { secret } = await keyWith(site, 'relay:limits:read:organization');
      const route = routeOf('POST /api/relay/limit-policies');
      expectStatus(await tryRoute(site, route, { key: secret }), 403);
    },
    selfHosted,
  ),
];

export const section5Access: readonly Statement[] = [
  ...bearer,
  ...intersection,
  ...plans,
  ...sufficient,
  ...scopes,
];
