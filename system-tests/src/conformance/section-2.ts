import { specHeaders } from '@relay/contract/specification';
import { ask, askMarked, eventually, header, inferencePaths } from './asks.ts';
import { routeOf, success } from './calls.ts';
import { type Answer, at, itemsOf, textAt } from './exchange.ts';
import { expect, expectEqual, expectStatus } from './expectation.ts';
import { answerOf } from './from-headers.ts';
import { LISTED, MODEL, UNLISTED } from './lanes.ts';
import { everywhere } from './mode.ts';
import { objects } from './objects.ts';
import { type Key, keyWith, newKey } from './people.ts';
import type { Site } from './site.ts';
import { rule, type Statement } from './statement.ts';

export const keyToLookAt = (site: Site): Promise<Key> =>
  site.once('a key to look at', () => newKey(site, ['relay:request']));
const listOfKeys = (site: Site) => site.call('GET', '/api/account/api-keys');

async function listed(site: Site, id: string): Promise<Readonly<Record<string, unknown>>> {
  const answer = await listOfKeys(site);
  const found = itemsOf(at(answer.body, 'api_keys')).find((key) => key['id'] === id);
  expect(found !== undefined, 'the key in the list', answer);
  return found;
}

const account: readonly Statement[] = [
  ...(
    [
      ['PATCH /api/account', 'user.name', 'Ada Lovelace'],
      ['PATCH /api/account/preferences', 'user.marketing_opt_in', true],
    ] as const
  ).map(
    ([line, field, value]): Statement => ({
      id: '2.1',
      says: `${field} is editable by ${line}`,
      quote: routeOf(line).quote,
      appliesIn: () => true,
      async check(site) {
        await success(site, routeOf(line));
        expectEqual(at((await site.call('GET', '/api/account')).body, field), value, field);
      },
    }),
  ),
  ...['PATCH /api/account', 'PATCH /api/account/preferences'].flatMap((line) =>
    ['org', 'role'].map(
      (field): Statement => ({
        id: '2.1',
        says: `${field} is not in the answer of ${line}`,
        quote: '(GET only)',
        appliesIn: () => true,
        async check(site) {
          const answer = await success(site, routeOf(line));
          expect(at(answer.body, field) === undefined, `no ${field}`, answer);
        },
      }),
    ),
  ),
];

const timestamps = ['last_used_at', 'expires_at', 'revoked_at'].map((field) =>
  rule(
    '2',
    `${field} of a new key is null`,
    async (site) => {
      expectEqual(at((await keyToLookAt(site)).made.body, `key.${field}`), null, field);
    },
    everywhere,
  ),
);

const key: readonly Statement[] = (
  [
    [
      'the secret is returned as `api_key` on creation',
      async (site) => {
        const { made: answer, secret } = await keyToLookAt(site);
        expect(secret.length >= 32, 'a secret of some length', answer);
      },
    ],
    [
      'the secret is never revealed by the list of keys',
      async (site) => {
        const { secret } = await keyToLookAt(site);
        const list = await listOfKeys(site);
        expect(!list.text.includes(secret), 'a list without the secret', list);
      },
    ],
    [
      'the `key` object of the creation does not hold the secret',
      async (site) => {
        const { made: answer, secret } = await keyToLookAt(site);
        const object = JSON.stringify(at(answer.body, 'key'));
        expect(!object.includes(secret), 'a key without the secret', object);
      },
    ],
    [
      'the `key` object has no field api_key',
      async (site) => {
        expect(at((await keyToLookAt(site)).made.body, 'key.api_key') === undefined, 'no such field', 'one');
      },
    ],
    [
      'key_prefix is the beginning of the secret, and not all of it',
      async (site) => {
        const { made: answer, secret } = await keyToLookAt(site);
        const prefix = textAt(answer, 'key.key_prefix');
        const isPart = prefix.length > 0 && prefix.length < secret.length / 2;
        expect(isPart && secret.startsWith(prefix), 'a short prefix of the secret', prefix);
      },
    ],
    [
      'user_uuid is the owner’s identifier',
      async (site) => {
        expectEqual(at((await keyToLookAt(site)).made.body, 'key.user_uuid'), site.ownerId, 'user_uuid');
      },
    ],
    [
      'last_used_at is set once the key was used',
      async (site) => {
        const { id, secret } = await keyWith(site, 'relay:request');
        expectStatus(await site.call('GET', '/v1/models', { key: secret }), 200);
        await eventually(
          async () => typeof (await listed(site, id))['last_used_at'] === 'string',
          'last_used_at to be set',
        );
      },
    ],
    [
      'expires_at is set where the key ends',
      async (site) => {
        const expires_at = new Date(Date.now() + 3_600_000).toISOString();
        const { id } = await newKey(site, ['relay:request'], { expires_at });
        expectEqual((await listed(site, id))['expires_at'], expires_at, 'expires_at');
      },
    ],
  ] satisfies readonly (readonly [string, Statement['check']])[]
).map(([says, check]) => rule('2.2', says, check, everywhere));

const GUARDRAIL_SECRET = 'guardrail-credential-0123456789';

function guardrailWithSecret(site: Site): Promise<Answer> {
  return site.once('guardrail with a credential', async () => {
    const body = {
      name: 'Guardrail with a credential',
      preset_slug: 'custom-http',
      base_url: 'https://guardrail.example.com/check',
      http_method: 'POST',
      auth_mode: 'bearer_static',
      pre_dispatch_enabled: true,
      secret: GUARDRAIL_SECRET,
    };
    const answer = await site.call('POST', '/api/relay/guardrails', { body });
    expectStatus(answer, 201);
    return answer;
  });
}

const guardrail: readonly Statement[] = (
  [
    [
      'a newly created guardrail shows enabled false',
      async (site) => {
        const answer = await success(site, routeOf('POST /api/relay/guardrails'));
        expectEqual(at(answer.body, 'enabled'), false, 'enabled');
      },
    ],
    [
      'has_credential is false where none is stored',
      async (site) => {
        const answer = await success(site, routeOf('POST /api/relay/guardrails'));
        expectEqual(at(answer.body, 'has_credential'), false, 'has_credential');
      },
    ],
    [
      'has_credential is true where one is stored',
      async (site) =>
        expectEqual(at((await guardrailWithSecret(site)).body, 'has_credential'), true, 'has_credential'),
    ],
    [
      'the credential is in no answer of creation, list or single read',
      async (site) => {
        const answer = await guardrailWithSecret(site);
        const path = '/api/relay/guardrails';
        const one = await site.call('GET', `${path}/${textAt(answer, 'id')}`);
        for (const each of [answer, one, await site.call('GET', path)])
          expect(!each.text.includes(GUARDRAIL_SECRET), 'no credential', each);
      },
    ],
    [
      'binding_count is the number of bindings',
      async (site) => {
        const path = `/api/relay/guardrails/${textAt(await guardrailWithSecret(site), 'id')}`;
        for (const laneIds of [
          [site.lanes['switched off'].laneId, site.lanes.unprepared.laneId],
          [site.lanes['switched off'].laneId],
        ]) {
          const bindings = laneIds.map((target_id) => ({ target_type: 'lane', target_id }));
          expectStatus(await site.call('PUT', `${path}/bindings`, { body: { bindings } }), 200);
          const one = await site.call('GET', path);
          expectEqual(at(one.body, 'guardrail.binding_count'), laneIds.length, 'binding_count');
          expectEqual(itemsOf(at(one.body, 'bindings')).length, laneIds.length, 'the length of bindings');
        }
      },
    ],
  ] satisfies readonly (readonly [string, Statement['check']])[]
).map(([says, check]) => rule('2.6', says, check));

async function budgetListed(site: Site, line: string, id: 'user_limit_uuid' | 'key_limit_uuid') {
  const answer = await success(site, routeOf(line));
  const { ids } = await objects(site, 'kept');
  const found = itemsOf(at(answer.body, 'policies')).find((each) => each['limit_uuid'] === ids[id]);
  expect(found !== undefined, 'the policy in the list', answer);
  return { found, ids, answer };
}

const budgets: readonly Statement[] = (
  [
    [
      '2.8',
      'id equals limit_uuid in listings',
      'equals limit_uuid in listings',
      async (site) => {
        const { found } = await budgetListed(
          site,
          'GET /api/relay/pro/user-limit-policies',
          'user_limit_uuid',
        );
        expectEqual(found['id'], found['limit_uuid'], 'id');
      },
    ],
    [
      '2.8',
      'user_uuid is the member the policy applies to',
      'the member the policy applies to',
      async (site) => {
        const { found } = await budgetListed(
          site,
          'GET /api/relay/pro/user-limit-policies',
          'user_limit_uuid',
        );
        expectEqual(found['user_uuid'], site.ownerId, 'user_uuid');
      },
    ],
    [
      '2.9',
      'id equals limit_uuid in listings',
      'Same as 2.8',
      async (site) => {
        const { found } = await budgetListed(site, 'GET /api/relay/api-key-limit-policies', 'key_limit_uuid');
        expectEqual(found['id'], found['limit_uuid'], 'id');
      },
    ],
    [
      '2.9',
      'api_key_uuid is the public id of the key, owner_user_uuid its owner',
      '`api_key_uuid` (public key id, never the secret) and `owner_user_uuid` in place of `user_uuid`',
      async (site) => {
        const { found, ids } = await budgetListed(
          site,
          'GET /api/relay/api-key-limit-policies',
          'key_limit_uuid',
        );
        expectEqual(found['api_key_uuid'], ids.api_key_id, 'api_key_uuid');
        expectEqual(found['owner_user_uuid'], site.ownerId, 'owner_user_uuid');
        expectEqual(found['user_uuid'], undefined, 'user_uuid');
      },
    ],
  ] satisfies readonly (readonly [string, string, string, Statement['check']])[]
).map(([id, says, quote, check]) => ({ id, says, quote, appliesIn: everywhere, check }));

const counts = (
  [
    ['providers', '/api/relay/providers'],
    ['endpoints', '/api/relay/endpoints'],
    ['lanes', '/api/relay/routing-lanes'],
  ] as const
).map(
  ([field, path]): Statement => ({
    id: '2.10',
    says: `${field} counts the ${field}`,
    quote: 'Fields: providers (integer), endpoints (integer), lanes (integer)',
    appliesIn: () => true,
    async check(site) {
      const list = itemsOf((await site.call('GET', path)).body);
      const summary = await site.call('GET', '/api/relay/stats/summary');
      expectEqual(at(summary.body, field), list.length, field);
    },
  }),
);

const bodies: readonly Statement[] = [
  ...inferencePaths.map((path) =>
    rule('2.12', `POST ${path} takes the name of a model`, async (site) => {
      const answer = await ask(site, MODEL, { path });
      expectStatus(answer, 200);
      expectEqual(header(answer, 'X-Relay-Selected-Upstream-Model'), MODEL, 'the upstream model');
    }),
  ),
  ...inferencePaths.map(
    (path): Statement => ({
      id: '2.12',
      says: `POST ${path} hands additional fields to the provider`,
      quote: 'additional fields follow the configured provider',
      appliesIn: () => true,
      async check(site) {
        const { seen } = await askMarked(site, 'plain', { path, body: { x_additional: 'kept' } });
        const sent = JSON.parse(seen[0]?.body?.toString() ?? '{}') as Record<string, unknown>;
        expectEqual(sent['x_additional'], 'kept', 'the field at the provider');
      },
    }),
  ),
];

const modelList: readonly Statement[] = (
  [
    ['the upstream model of an enabled endpoint is listed', LISTED, true],
    ['the upstream model of a disabled endpoint is not listed', UNLISTED, false],
    ['a model that the provider has and no endpoint serves is not listed', 'sim-chat-b', false],
  ] as const
).map(([says, model, isListed]) =>
  rule('2.13', says, async (site) => {
    const answer = await site.call('GET', '/v1/models');
    const ids = itemsOf(at(answer.body, 'data')).map(({ id }) => id);
    expect(ids.includes(model) === isListed, `${model} ${isListed ? '' : 'not '}in the list`, ids);
  }),
);

/** What the headers of section 4.1 say, beyond their type. */
const meanings = inferencePaths.flatMap((path) =>
  (
    [
      ['X-Relay-Selected-Endpoint-Id', ({ lanes }) => lanes.plain.endpointIds[0]],
      ['X-Relay-Selected-Provider-Id', ({ lanes }) => lanes.plain.providerIds[0]],
      ['X-Relay-Selected-Upstream-Model', () => MODEL],
      ['X-Relay-Fallback-Count', () => '0'],
    ] satisfies readonly (readonly [string, (site: Site) => string | undefined])[]
  ).map(
    ([name, valueIn]): Statement => ({
      id: '4.1',
      says: `${name} of POST ${path} is the ${specHeaders[name]?.meaning}`,
      quote: `| ${name} | ${specHeaders[name]?.meaning} |`,
      appliesIn: () => true,
      async check(site) {
        const answer = await answerOf(site, { path, streaming: false });
        expectEqual(header(answer, name), valueIn(site), name);
      },
    }),
  ),
);

export const section2: readonly Statement[] = [
  ...account,
  ...timestamps,
  ...key,
  ...guardrail,
  ...budgets,
  ...counts,
  ...bodies,
  ...modelList,
  ...meanings,
];
