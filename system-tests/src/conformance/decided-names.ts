import { crc32 } from 'node:zlib';
import { allScopes, headers as names } from '@relay/contract';
import { ask, eventually, header } from './asks.ts';
import { routeOf, servedIn, specRoutes, success } from './calls.ts';
import { type Answer, at, itemsOf, textAt } from './exchange.ts';
import { expect, expectEqual, expectStatus } from './expectation.ts';
import { answerOf, nameOf, operations } from './from-headers.ts';
import { MODEL } from './lanes.ts';
import { everywhere } from './mode.ts';
import { objects } from './objects.ts';
import { keyWith } from './people.ts';
import { keyToLookAt } from './section-2.ts';
import type { Site } from './site.ts';
import { decided, type Statement } from './statement.ts';

// What the specification leaves open and Relay has decided: identifiers, names, defaults, models, keys.

const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const ids = 'Every id is a UUIDv7 string.';
const ownId = 'Every request has one: it is the `x-request-id` of the response.';

const identifiers: readonly Statement[] = [
  ...(
    [
      ['GET /api/account', 'user.id'],
      ['GET /api/account', 'org.id'],
      ['POST /api/account/api-keys', 'key.id'],
      ['POST /api/relay/providers', 'id'],
      ['POST /api/relay/routing-lanes', 'id'],
      ['POST /api/relay/lane-memberships', 'id'],
      ['POST /api/relay/guardrails', 'id'],
      ['POST /api/relay/limit-policies', 'id'],
    ] as const
  ).map(([line, path]) =>
    decided(
      'd1',
      ids,
      `${path} of ${line} is a UUIDv7`,
      async (site) => {
        const answer = await success(site, routeOf(line));
        expect(UUID7.test(textAt(answer, path)), 'a UUIDv7', answer);
      },
      servedIn(routeOf(line)),
    ),
  ),
  ...operations.map((operation) =>
    decided('d1', ownId, `x-request-id of ${nameOf(operation)} is a UUIDv7`, async (site) => {
      const value = header(await answerOf(site, operation), names.requestId);
      expect(UUID7.test(value), 'a UUIDv7', value);
    }),
  ),
];

const snakeCase = specRoutes
  .filter(({ method, server }) => method === 'GET' && server === '{api_origin}')
  .map((route) =>
    decided(
      'd1',
      'JSON keys are snake_case on the wire',
      `every key in the answer of ${route.line} is in snake_case`,
      async (site) => {
        const odd = keysIn((await success(site, route)).body).filter((key) => !/^[a-z][a-z0-9_]*$/.test(key));
        expectEqual(odd, [], 'the other keys');
      },
      servedIn(route),
    ),
  );

function keysIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(keysIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [key, ...keysIn(item)]);
}

const slugs = 'Slugs derive from names: lower case, letters and digits, `-` between; a clash gets `-2`';
const NAME = 'Fast & Cheap 2';

const creations: readonly (readonly [string, (site: Site) => object])[] = [
  [
    '/api/relay/providers',
    () => ({ name: NAME, base_url: 'https://upstream.example.com/v1', auth_mode: 'none', enabled: false }),
  ],
  ['/api/relay/routing-lanes', () => ({ name: NAME, enabled: false })],
  ['/api/relay/guardrails', () => ({ name: NAME, base_url: 'https://guardrail.example.com/check' })],
  [
    '/api/relay/endpoints',
    ({ lanes }) => ({
      name: NAME,
      provider_id: lanes.plain.providerIds[0],
      upstream_model: 'named-model',
      route_kind: 'chat',
      enabled: false,
    }),
  ],
];

/** Two of one name, one after the other. */
const namesakes = (site: Site, path: string, bodyOf: (site: Site) => object): Promise<readonly Answer[]> =>
  site.once(`namesakes ${path}`, async () => [
    await site.call('POST', path, { body: bodyOf(site) }),
    await site.call('POST', path, { body: bodyOf(site) }),
  ]);

const slugging = creations.flatMap(([path, bodyOf]) => [
  decided('d1', slugs, `POST ${path} derives the slug from the name`, async (site) => {
    const [first] = await namesakes(site, path, bodyOf);
    expect(first !== undefined && textAt(first, 'slug') === 'fast-cheap-2', 'fast-cheap-2', first);
  }),
  decided('d1', slugs, `POST ${path} with a name that is taken gets the slug with -2`, async (site) => {
    const [, second] = await namesakes(site, path, bodyOf);
    expect(second !== undefined && textAt(second, 'slug') === 'fast-cheap-2-2', 'fast-cheap-2-2', second);
  }),
]);

const defaults: readonly Statement[] = (
  [
    ['/api/relay/routing-lanes', 'selection', 'soonest'],
    ['/api/relay/routing-lanes', 'hidden', false],
    ['/api/relay/routing-lanes', 'default_max_wait_ms', 30_000],
    ['/api/relay/routing-lanes', 'hold_ms', 2_000],
    ['/api/relay/endpoints', 'pacing', true],
    ['/api/relay/endpoints', 'max_concurrency', null],
    ['/api/relay/endpoints', 'context_window', null],
    ['/api/relay/endpoints', 'max_latency_ms', 600_000],
    ['/api/relay/endpoints', 'credential_id', null],
    ['/api/relay/guardrails', 'failure_mode', 'fail_closed'],
  ] as const
).map(([path, field, value]) =>
  decided(
    'd2',
    `${field} (default ${value})`,
    `POST ${path} without ${field} shows ${value}`,
    async (site) => {
      const bodyOf = creations.find(([start]) => start === path)?.[1] ?? (() => ({}));
      const [first] = await namesakes(site, path, bodyOf);
      expectEqual(at(first?.body, field), value, field);
    },
  ),
);

const modelFields = '`{object:"list", data:[{id, object:"model", created, owned_by}]}`';

const models: readonly Statement[] = [
  decided('d3', modelFields, 'the model list is an object called list', async (site) => {
    expectEqual(at((await site.call('GET', '/v1/models')).body, 'object'), 'list', 'object');
  }),
  ...(
    [
      ['id', 'string'],
      ['object', 'string'],
      ['created', 'number'],
      ['owned_by', 'string'],
    ] as const
  ).map(([field, type]) =>
    decided('d3', modelFields, `every listed model has ${field}, a ${type}`, async (site) => {
      const { body } = await site.call('GET', '/v1/models');
      const wrong = itemsOf(at(body, 'data')).filter((model) => typeof model[field] !== type);
      expectEqual(wrong, [], `the models without ${field}`);
    }),
  ),
  ...(
    [
      ['the slug of a lane', 'first-endpoint-off'],
      ['the name of a lane', 'first endpoint off'],
      ['an upstream model', MODEL],
      ['provider-slug/upstream-model', `plain-1/${MODEL}`],
    ] as const
  ).map(([what, name]) =>
    decided(
      'd3',
      '`model` in a request resolves: lane slug or name → `provider-slug/upstream-model` → upstream model',
      `a request may name ${what}`,
      async (site) => expectStatus(await ask(site, name), 200),
    ),
  ),
  decided(
    'd3',
    'Unknown → 400 `model_not_found` naming what was tried',
    'an unknown model is named',
    async (site) => {
      const answer = await ask(site, 'no-such-model');
      expectEqual(at(answer.body, 'error.code'), 'model_not_found', 'the code');
      expect(textAt(answer, 'error.message').includes('no-such-model'), 'the name', answer);
    },
  ),
  decided('d3', 'the slugs of lanes that are not hidden', 'a hidden lane is not listed', async (site) => {
    const lane = { default_max_wait_ms: 1, allow_fallback: true, enabled: true };
    const endpoint_id = site.lanes.plain.endpointIds[0];
    for (const [name, hidden] of [
      ['hidden lane', true],
      ['shown lane', false],
    ] as const) {
      const made = await site.call('POST', '/api/relay/routing-lanes', { body: { ...lane, name, hidden } });
      const body = { lane_id: textAt(made, 'id'), endpoint_id, manual_rank: 1, enabled: true };
      expectStatus(await site.call('POST', '/api/relay/lane-memberships', { body }), 201);
    }
    const listed = async () =>
      itemsOf(at((await site.call('GET', '/v1/models')).body, 'data')).map(({ id }) => id);
    await eventually(async () => (await listed()).includes('shown-lane'), 'the lane that is not hidden');
    expect(!(await listed()).includes('hidden-lane'), 'no hidden lane', await listed());
  }),
  decided(
    'd3',
    '`X-Relay-Selected-Endpoint` is the endpoint’s name',
    'the header is the name',
    async (site) => {
      const answer = await answerOf(site, { path: '/chat/completions', streaming: false });
      expectEqual(header(answer, names.selectedEndpoint), 'plain 1', 'the header');
    },
  ),
];

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function checksumOf(text: string): string {
  let value = crc32(text);
  let digits = '';
  for (let place = 0; place < 6; place += 1) {
    digits = DIGITS.charAt(value % 62) + digits;
    value = Math.floor(value / 62);
  }
  return digits;
}

const secretFormat =
  'Key secret: `rly_` + 10-character public id + `_` + 32 random bytes in base62 + 6-character CRC32';

const keys: readonly Statement[] = [
  decided(
    'd3',
    secretFormat,
    'a secret has its public id, its random part and its checksum',
    async (site) => {
      const { secret } = await keyToLookAt(site);
      expect(
        /^rly_[0-9A-Za-z]{10}_[0-9A-Za-z]{49}$/.test(secret),
        'the format',
        secret.replaceAll(/\w/g, 'x'),
      );
      expectEqual(secret.slice(-6), checksumOf(secret.slice(0, -6)), 'the checksum');
    },
  ),
  decided('d3', '`key_prefix` is `rly_<public id>`', 'the prefix ends with the public id', async (site) => {
    const { secret, made } = await keyToLookAt(site);
    expectEqual(textAt(made, 'key.key_prefix'), secret.split('_').slice(0, 2).join('_'), 'key_prefix');
  }),
  ...allScopes.map((scope) =>
    decided('d3', 'Scopes beyond those named in the spec', `a key can hold ${scope}`, async (site) => {
      const { made } = await keyWith(site, scope);
      expect((at(made.body, 'key.scopes') as string[]).includes(scope), scope, made);
    }),
  ),
  ...allScopes
    .filter((scope) => scope.endsWith(':manage'))
    .flatMap((scope) => {
      const read = allScopes.find((each) => each.startsWith(scope.replace(/manage$/, 'read')));
      return read === undefined ? [] : [[scope, read] as const];
    })
    .map(([scope, read]) =>
      decided('d3', '`manage` always implies its `read`', `${scope} lists ${read} as well`, async (site) => {
        const { made } = await keyWith(site, scope);
        expect((at(made.body, 'key.scopes') as string[]).includes(read), read, made);
      }),
    ),
].map((statement) => ({ ...statement, appliesIn: everywhere }));

const misc: readonly Statement[] = [
  decided(
    'd3',
    '`PUT /api/relay/guardrails/{id}` answers the guardrail',
    'the answer is the guardrail',
    async (site) => {
      const answer = await success(site, routeOf('PUT /api/relay/guardrails/{guardrail_id}'));
      const { ids: kept } = await objects(site, 'kept');
      expectEqual(textAt(answer, 'id'), kept.guardrail_id, 'id');
      expectEqual(textAt(answer, 'name'), 'Changed guardrail', 'name');
    },
  ),
  decided(
    'd3',
    'Request body limit: 1 MiB on management',
    'a management body above 1 MiB answers 413',
    async (site) => {
      const body = { name: 'x'.repeat(1_048_576) };
      expectStatus(await site.call('PATCH', '/api/account', { body }), 413);
    },
  ),
];

export const decidedNames: readonly Statement[] = [
  ...identifiers,
  ...snakeCase,
  ...slugging,
  ...defaults,
  ...models,
  ...keys,
  ...misc,
];
