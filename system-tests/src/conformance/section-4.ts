import { specStreamingPaths } from '@relay/contract/specification';
import { ask, header, policiesOf } from './asks.ts';
import { routeOf, servedIn, success } from './calls.ts';
import { at, itemsOf } from './exchange.ts';
import { expect, expectEqual, expectStatus } from './expectation.ts';
import { answerOf } from './from-headers.ts';
import { everywhere, withMembers } from './mode.ts';
import { type Ids, objects } from './objects.ts';
import { keyWith, memberOf, newKey } from './people.ts';
import type { Site } from './site.ts';
import { rule, type Statement } from './statement.ts';

/** What a provider-compatible object has at least, by operation. */
const compatible: Readonly<Record<string, string>> = {
  '/chat/completions': 'choices',
  '/responses': 'output',
  '/embeddings': 'data',
};

const bodies: readonly Statement[] = [
  ...Object.entries(compatible).map(([path, field]) =>
    about41(path, `answers a provider-compatible object with \`${field}\``, async (site) => {
      const answer = await answerOf(site, { path, streaming: false });
      expect(itemsOf(at(answer.body, field)).length > 0, `${field}, which is not empty`, answer);
    }),
  ),
  ...specStreamingPaths.flatMap((path) => [
    about41(path, 'answers text/event-stream when streaming', async (site) => {
      const answer = await answerOf(site, { path, streaming: true });
      expect(header(answer, 'content-type').startsWith('text/event-stream'), 'an event stream', [
        ...answer.headers,
      ]);
    }),
    about41(path, 'streams frames of the provider', async (site) => {
      const answer = await answerOf(site, { path, streaming: true });
      const frames = answer.text.split('\n').filter((line) => line.startsWith('data: {'));
      const marker = path === '/responses' ? 'response.' : 'chat.completion.chunk';
      expect(frames.length > 2 && frames.every((frame) => frame.includes(marker)), 'provider frames', answer);
    }),
    about41(path, 'ends its stream as the provider does', async (site) => {
      const answer = await answerOf(site, { path, streaming: true });
      const end = path === '/responses' ? 'response.completed' : 'data: [DONE]';
      expect(answer.text.includes(end), `a stream with ${end}`, answer.text.slice(-300));
    }),
  ]),
  about41('/embeddings', 'never answers an event stream', async (site) => {
    const answer = await ask(site, 'plain', { path: '/embeddings', body: { stream: true } });
    expect(header(answer, 'content-type').startsWith('application/json'), 'JSON only', answer);
  }),
];

function about41(path: string, says: string, check: Statement['check']): Statement {
  const { line, quote } = routeOf(`POST ${path}`);
  return { id: '4.1', says: `${line} ${says}`, quote, appliesIn: () => true, check };
}

const scopes: readonly Statement[] = (
  [
    [
      'GET /api/account/api-key-scopes answers no scope that the calling key lacks',
      async (site) => {
        const { secret } = await keyWith(site, 'cloud:account:manage', 'relay:request');
        const { body } = await site.call('GET', '/api/account/api-key-scopes', { key: secret });
        const held = ['cloud:account:manage', 'relay:request'];
        expectEqual((at(body, 'scopes') as string[]).toSorted(), held, 'the scopes');
      },
    ],
    [
      'GET /api/account/api-key-scopes answers no scope that the owner lacks',
      async (site) => {
        const member = await site.once('developer', () => memberOf(site, 'developer'));
        const { body } = await member.call('GET', '/api/account/api-key-scopes');
        const found = at(body, 'scopes') as string[];
        expect(found.includes('relay:request') && !found.includes('cloud:billing:read'), 'its own', found);
      },
    ],
  ] satisfies readonly (readonly [string, Statement['check']])[]
).map(([says, check]) => ({
  id: '4.2',
  says,
  quote: routeOf('GET /api/account/api-key-scopes').quote,
  appliesIn: withMembers,
  check,
}));

interface BudgetKind {
  readonly what: string;
  readonly path: string;
  readonly subject: (site: Site) => Promise<Readonly<Record<string, string>>>;
}

const kinds: readonly BudgetKind[] = [
  {
    what: 'user budget',
    path: '/api/relay/pro/user-limit-policies',
    async subject(site) {
      const member = await site.once('developer', () => memberOf(site, 'developer'));
      return { user_uuid: member.userId };
    },
  },
  {
    what: 'API-key budget',
    path: '/api/relay/api-key-limit-policies',
    async subject(site) {
      return { api_key_uuid: (await keyWith(site, 'relay:request')).id };
    },
  },
];

const LIMIT = { target_type: 'global', metric: 'tokens', period: 'day', enabled: true };

/** A budget that is created, listed, changed by its id and listed again. */
function story(site: Site, { what, path, subject }: BudgetKind) {
  return site.once(`story of a ${what}`, async () => {
    const of = await subject(site);
    const [name = '', id] = Object.entries(of)[0] ?? [];
    const find = async () =>
      policiesOf(await site.call('GET', path)).filter(
        (each) => each[name] === id && each['metric'] === 'tokens',
      );
    const body = { ...of, ...LIMIT, limit_value: 1_000_000_000 };
    const created = await site.call('POST', path, { body });
    const listed = await find();
    const limit_uuid = String(listed[0]?.['limit_uuid']);
    const change = { ...body, limit_uuid, limit_value: 2_000_000_000 };
    const changed = await site.call('POST', path, { body: change });
    return { created, listed, changed, after: await find() };
  });
}

const creating = kinds.flatMap((kind) => [
  rule(
    '4.2 rule 1',
    `creating a ${kind.what} returns no policy id`,
    async (site) => expectEqual((await story(site, kind)).created.body, { ok: true }, 'the answer'),
    withMembers,
  ),
  rule(
    '4.2 rule 1',
    `the limit_uuid of a ${kind.what} is obtained by listing`,
    async (site) => {
      const { listed } = await story(site, kind);
      expect(listed.length === 1 && typeof listed[0]?.['limit_uuid'] === 'string', 'one policy', listed);
    },
    withMembers,
  ),
]);

const updating = kinds.flatMap((kind, index) => {
  const id = index === 0 ? '4.2 rule 2' : '4.2 rule 3';
  return [
    rule(
      id,
      `updating a ${kind.what} with its limit_uuid answers {ok: true}`,
      async (site) => expectEqual((await story(site, kind)).changed.body, { ok: true }, 'the answer'),
      withMembers,
    ),
    rule(
      id,
      `the updated ${kind.what} has the new value, the same id, and no second beside it`,
      async (site) => {
        const { listed, after } = await story(site, kind);
        const unversioned = (each: object) => ({ ...each, etag: '' });
        const expected = listed.map((each) => ({ ...unversioned(each), limit_value: 2_000_000_000 }));
        expectEqual(after.map(unversioned), expected, 'the list');
      },
      withMembers,
    ),
  ];
});

const rules: readonly Statement[] = [
  rule(
    '4.2 rule 4',
    'a policy body with the secret in place of the public id is refused',
    async (site) => {
      const { secret } = await keyWith(site, 'relay:request');
      const body = { api_key_uuid: secret, ...LIMIT, limit_value: 1 };
      const answer = await site.call('POST', '/api/relay/api-key-limit-policies', { body });
      expectStatus(answer, 400, 404);
      expect(!answer.text.includes(secret), 'an answer without the secret', answer);
    },
    everywhere,
  ),
  rule(
    '4.2 rule 4',
    'the list of key policies holds no secret',
    async (site) => {
      const { secret } = await keyWith(site, 'relay:request');
      await story(site, kinds[1] as BudgetKind);
      const list = await site.call('GET', '/api/relay/api-key-limit-policies');
      expect(!list.text.includes(secret), 'no secret', list);
    },
    everywhere,
  ),
  rule(
    '4.2 rule 5',
    'replacing a key creates a new id',
    async (site) => {
      const [old, next] = [await newKey(site, ['relay:request']), await newKey(site, ['relay:request'])];
      expect(old.id !== next.id && old.id !== '', 'two ids', [old.id, next.id]);
    },
    everywhere,
  ),
  rule(
    '4.2 rule 5',
    'policies of the old key do not transfer',
    async (site) => {
      const old = await newKey(site, ['relay:request']);
      const path = '/api/relay/api-key-limit-policies';
      const body = { api_key_uuid: old.id, ...LIMIT, metric: 'requests', limit_value: 0 };
      expectStatus(await site.call('POST', path, { body }), 200);
      expectStatus(await site.call('DELETE', `/api/account/api-keys/${old.id}`), 204);
      const next = await newKey(site, ['relay:request']);
      expectStatus(await ask(site, 'plain', { key: next.secret }), 200);
      const held = policiesOf(await site.call('GET', path)).filter(
        (each) => each['api_key_uuid'] === next.id,
      );
      expectEqual(held, [], 'the policies of the new key');
    },
    everywhere,
  ),
  rule('4', 'a management call without cookies, with the key alone, is served', async (site) => {
    expectStatus(await success(site, routeOf('GET /api/relay/providers')), 200);
  }),
];

/** Which list shows what a path names. */
const listOf: readonly (readonly [keyof Ids, string])[] = [
  ['api_key_id', 'GET /api/account/api-keys'],
  ['group_id', 'GET /api/relay/routing-lanes'],
  ['membership_id', 'GET /api/relay/lane-memberships'],
  ['guardrail_id', 'GET /api/relay/guardrails'],
  ['policy_id', 'GET /api/relay/limit-policies'],
];

const parameters = listOf.map(([name, line]) =>
  rule(
    '4.2',
    `${name} of the creation is the one of the list`,
    async (site) => {
      const { ids } = await objects(site, 'kept');
      const { body } = await success(site, routeOf(line));
      const listed = itemsOf(at(body, 'api_keys') ?? body).map(({ id }) => id);
      expect(listed.includes(ids[name]), `${ids[name]} in the list`, listed);
    },
    name === 'api_key_id' ? everywhere : servedIn(routeOf(line)),
  ),
);

export const section4: readonly Statement[] = [
  ...bodies,
  ...parameters,
  ...scopes,
  ...creating,
  ...updating,
  ...rules,
];
