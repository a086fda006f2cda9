import type { Scope } from '@relay/contract';
import { ask, eventually, policiesOf, recordOf } from './asks.ts';
import { at, itemsOf } from './exchange.ts';
import { expect, expectEqual, expectStatus } from './expectation.ts';
import { everywhere, withMembers } from './mode.ts';
import { keyWith, memberOf, newKey, PASSWORD, type Person, workload } from './people.ts';
import type { Site } from './site.ts';
import { rule, type Statement } from './statement.ts';

const MANAGER: readonly Scope[] = ['cloud:account:manage', 'relay:providers:read'];
const asKey = (site: Site, secret: string): Pick<Person, 'call'> => ({
  call: (method, path, sending) => site.call(method, path, { key: secret, ...sending }),
});

const delegation: readonly Statement[] = (
  [
    [
      'a key creates a key with fewer scopes than its own',
      async (site) => {
        const { secret } = await keyWith(site, ...MANAGER);
        const { made } = await newKey(asKey(site, secret), ['relay:providers:read']);
        expectEqual(at(made.body, 'key.scopes'), ['relay:providers:read'], 'the scopes');
      },
    ],
    [
      'a key cannot create another key with broader scopes than its own',
      async (site) => {
        const { secret } = await keyWith(site, ...MANAGER);
        const body = { name: 'Broader', scopes: ['relay:providers:manage'] };
        expectStatus(await site.call('POST', '/api/account/api-keys', { key: secret, body }), 403);
      },
    ],
    [
      'team delegation is refused to a key that lacks some of its owner’s permissions',
      async (site) => {
        const { secret } = await keyWith(site, 'cloud:members:manage');
        const body = { email: 'invited@example.com', role: 'viewer' };
        expectStatus(await site.call('POST', '/api/org/invitations', { key: secret, body }), 403);
      },
    ],
    [
      'team delegation is granted to a key that carries all of its owner’s permissions',
      async (site) => {
        const body = { email: 'invited-by-all@example.com', role: 'viewer' };
        expectStatus(await site.call('POST', '/api/org/invitations', { body }), 201);
      },
    ],
  ] satisfies readonly (readonly [string, Statement['check']])[]
).map(([says, check]) => rule('5.5', says, check, withMembers));

/** A budget of a developer and of their key, and another developer who has neither. */
function visibility(site: Site) {
  return site.once('visibility', async () => {
    const { member, key } = await workload(site, 'developer', ['relay:request']);
    const other = await newKey(await memberOf(site, 'developer'), ['relay:request']);
    const limit = { target_type: 'global', metric: 'requests', period: 'month', limit_value: 1_000_000 };
    const subjects = [
      ['/api/relay/pro/user-limit-policies', { user_uuid: member.userId }],
      ['/api/relay/api-key-limit-policies', { api_key_uuid: key.id }],
    ] as const;
    for (const [path, subject] of subjects) {
      const body = { ...subject, ...limit, enabled: true };
      expectStatus(await site.call('POST', path, { body }), 200);
    }
    return { member, key, other };
  });
}

const individual = (
  [
    ['user', '/api/relay/pro/user-limit-policies', 'user_uuid'],
    ['API-key', '/api/relay/api-key-limit-policies', 'owner_user_uuid'],
  ] as const
).flatMap(([what, path, field]) => [
  rule(
    '5.6',
    `a member sees their own ${what} limits and no others`,
    async (site) => {
      const { member, key } = await visibility(site);
      const owners = policiesOf(await site.call('GET', path, { key: key.secret })).map((each) => each[field]);
      expect(
        owners.length > 0 && owners.every((owner) => owner === member.userId),
        `limits of ${member.userId} alone`,
        owners,
      );
    },
    withMembers,
  ),
  rule(
    '5.6',
    `another member does not see them (${what} limits)`,
    async (site) => {
      const { member, other } = await visibility(site);
      const owners = policiesOf(await site.call('GET', path, { key: other.secret })).map(
        (each) => each[field],
      );
      expect(!owners.includes(member.userId), 'no limits of the first', owners);
    },
    withMembers,
  ),
  rule(
    '5.6',
    `relay:limits:read:organization sees them (${what} limits)`,
    async (site) => {
      const { member } = await visibility(site);
      const { secret } = await keyWith(site, 'relay:limits:read:organization');
      const owners = policiesOf(await site.call('GET', path, { key: secret })).map((each) => each[field]);
      expect(owners.includes(member.userId), 'the limits of all members', owners);
    },
    withMembers,
  ),
]);

const browserOnly = (
  [
    [
      'a password change',
      'POST',
      '/api/account/password',
      { current_password: PASSWORD, new_password: 'x'.repeat(20) },
    ],
    ['an e-mail change', 'POST', '/api/account/email', { email: 'new@example.com', password: PASSWORD }],
    ['browser logout', 'DELETE', '/api/session', undefined],
  ] as const
).map(([what, method, path, body]) =>
  rule('5.7', `${what} is not available with an API key`, async (site) => {
    expectStatus(await site.call(method, path, body === undefined ? {} : { body }), 401, 403);
  }),
);

/** Keys of a developer, for a holder of the security permission to inspect and revoke. */
function inspected(site: Site) {
  return site.once('inspected keys', async () => {
    const member = await memberOf(site, 'developer');
    return { kept: await newKey(member, ['relay:request']), gone: await newKey(member, ['relay:request']) };
  });
}

const security: readonly Statement[] = (
  [
    [
      'cloud:security:manage lists the organization’s keys',
      async (site) => {
        const { kept } = await inspected(site);
        const { secret } = await keyWith(site, 'cloud:security:manage');
        const answer = await site.call('GET', '/api/org/api-keys', { key: secret });
        expectStatus(answer, 200);
        const listed = itemsOf(at(answer.body, 'api_keys') ?? answer.body).map(({ id }) => id);
        expect(listed.includes(kept.id), 'the key of a member', answer);
        expect(!answer.text.includes(kept.secret), 'no secret', answer);
      },
    ],
    [
      'cloud:security:manage revokes a key of another member, and it alone',
      async (site) => {
        const { kept, gone } = await inspected(site);
        const { secret } = await keyWith(site, 'cloud:security:manage');
        expectStatus(await site.call('DELETE', `/api/org/api-keys/${gone.id}`, { key: secret }), 204);
        expectStatus(await site.call('GET', '/v1/models', { key: gone.secret }), 401);
        expectStatus(await site.call('GET', '/v1/models', { key: kept.secret }), 200);
      },
    ],
    [
      'a member without the permission can neither inspect nor revoke',
      async (site) => {
        const { kept } = await inspected(site);
        const { member } = await workload(site, 'developer', ['relay:request']);
        expectStatus(await member.call('GET', '/api/org/api-keys'), 403);
        expectStatus(await member.call('DELETE', `/api/org/api-keys/${kept.id}`), 403);
      },
    ],
  ] satisfies readonly (readonly [string, Statement['check']])[]
).map(([says, check]) => rule('5.8', says, check, withMembers));

const attribution: readonly Statement[] = [
  rule(
    '5.9',
    'two keys of one owner are told apart in the record of their requests',
    async (site) => {
      const keys = [await newKey(site, ['relay:request']), await newKey(site, ['relay:request'])];
      for (const key of keys) {
        const answer = await ask(site, 'plain', { key: key.secret });
        expectStatus(answer, 200);
        expectEqual(at((await recordOf(site, answer)).body, 'api_key_id'), key.id, 'the key of the record');
      }
    },
    everywhere,
  ),
  rule(
    '5.4',
    'a replacement key has the changed access',
    async (site) => {
      const { secret } = await newKey(site, ['relay:request', 'relay:providers:read']);
      expectStatus(await site.call('GET', '/api/relay/providers', { key: secret }), 200);
      await eventually(
        async () => (await site.call('GET', '/v1/models', { key: secret })).status === 200,
        'both scopes to be held',
      );
    },
    everywhere,
  ),
  rule(
    '5.4',
    'no route changes the scopes of a key',
    async (site) => {
      const { id } = await newKey(site, ['relay:request']);
      const body = { name: 'Same', scopes: ['relay:request', 'relay:providers:read'] };
      for (const method of ['PUT', 'POST', 'PATCH'])
        await site.call(method, `/api/account/api-keys/${id}`, { body });
      const list = await site.call('GET', '/api/account/api-keys');
      const found = itemsOf(at(list.body, 'api_keys')).find((key) => key['id'] === id);
      expectEqual(found?.['scopes'], ['relay:request'], 'the scopes');
    },
    everywhere,
  ),
];

export const section5People: readonly Statement[] = [
  ...delegation,
  ...individual,
  ...browserOnly,
  ...security,
  ...attribution,
];
