import {
  type SpecResourceName,
  type SpecRoute,
  type SpecRuleId,
  type SpecType,
  specManagementRoutes,
  specResources,
  specRules,
} from '@relay/contract/specification';
import { bodyOf, inferenceBodies, routeOf, servedIn, specRoutes, tryRoute } from './calls.ts';
import { expectStatus } from './expectation.ts';
import { everywhere } from './mode.ts';
import { objects } from './objects.ts';
import type { Site } from './site.ts';
import type { Statement } from './statement.ts';

// Sections 2 and 4: bodies whose fields are missing or of another type than the tables say are refused with 400.

const resourceOf: readonly (readonly [path: string, SpecResourceName])[] = [
  ['/api/account/api-keys', 'ApiKey'],
  ['/api/account', 'Account'],
  ['/api/relay/providers', 'Provider'],
  ['/api/relay/routing-lanes', 'Lane'],
  ['/api/relay/lane-memberships', 'Membership'],
  ['/api/relay/guardrails', 'Guardrail'],
  ['/api/relay/limit-policies', 'LimitPolicy'],
  ['/api/relay/pro/user-limit-policies', 'UserLimitPolicy'],
  ['/api/relay/api-key-limit-policies', 'ApiKeyLimitPolicy'],
];

function typeOf({ path }: SpecRoute, field: string): SpecType | undefined {
  const name = resourceOf.find(([start]) => path.startsWith(start))?.[1];
  if (name === undefined) return undefined;
  const { fields } = specResources[name];
  return (fields[field] ?? fields[`user.${field}`])?.type;
}

/** A value of another type than the one that is asked for. */
function misfit(type: SpecType): unknown {
  if (type === 'boolean') return 'yes';
  if (type === 'integer') return 'ten';
  if (type === 'array of string') return 'relay:request';
  return 7;
}

const managementTypes = specManagementRoutes.flatMap((route) =>
  [...(route.bodyFields ?? []), ...(route.optionalBodyFields ?? [])].flatMap(
    (field): readonly Statement[] => {
      const type = typeOf(route, field);
      if (type === undefined) return [];
      const value = JSON.stringify(misfit(type));
      return [
        {
          id: '4.2',
          says: `${route.line} takes \`${field}\` as ${type}: ${value} answers 400`,
          quote: route.quote,
          appliesIn: servedIn(route),
          check: (site) => expectRefusal(site, route, { [field]: misfit(type) }),
        },
      ];
    },
  ),
);

/** The body with these fields changed; undefined leaves one out. */
async function expectRefusal(site: Site, route: SpecRoute, changes: Record<string, unknown>): Promise<void> {
  const { ids } = await objects(site, 'kept');
  const body = { ...bodyOf(site, route, ids, 'kept'), ...changes };
  expectStatus(await tryRoute(site, route, { body }), 400);
}

/** Fields without which a body makes no sense: all of a budget's but `limit_uuid`, and a name. */
const required: readonly (readonly [line: string, fields: readonly string[]])[] = [
  ['POST /api/relay/providers', ['name']],
  ['POST /api/account/api-keys', ['name', 'scopes']],
  ...['POST /api/relay/pro/user-limit-policies', 'POST /api/relay/api-key-limit-policies'].map(
    (line) => [line, routeOf(line).bodyFields ?? []] as const,
  ),
];

const managementRequired = required.flatMap(([line, fields]) => {
  const route = routeOf(line);
  return fields
    .filter((field) => field !== 'enabled')
    .map(
      (field): Statement => ({
        id: '4.2',
        says: `${line} without \`${field}\` answers 400`,
        quote: route.quote,
        appliesIn: servedIn(route),
        check: (site) => expectRefusal(site, route, { [field]: undefined }),
      }),
    );
});

const rowOf: Readonly<Record<string, SpecRuleId>> = {
  '/chat/completions': '2.12 chat completion',
  '/responses': '2.12 response',
  '/embeddings': '2.12 embeddings',
};

/** Bodies that section 2.12 rules out. */
function badInference(path: string): readonly (readonly [says: string, body: object])[] {
  const good = { model: 'plain', ...inferenceBodies[path] };
  const content = path === '/chat/completions' ? 'messages' : 'input';
  const common = [
    ['without `model`', { ...good, model: undefined }],
    ['with a `model` that is not a string', { ...good, model: 7 }],
    [`without \`${content}\``, { ...good, [content]: undefined }],
    [`with \`${content}\` as a number`, { ...good, [content]: 7 }],
  ] as const;
  if (content !== 'messages') return common;
  return [
    ...common,
    ['with a message that is not an object', { ...good, messages: ['Say hello.'] }],
    ['with a message without `role`', { ...good, messages: [{ content: 'Say hello.' }] }],
    ['with a `role` that is not a string', { ...good, messages: [{ role: 7, content: 'Say hello.' }] }],
  ];
}

const inferencePosts = specRoutes.filter(
  ({ server, method }) => server === '{base_url}' && method === 'POST',
);

const inferenceBad = inferencePosts.flatMap((route) => [
  ...badInference(route.path).map(
    ([says, body]): Statement => ({
      id: '2.12',
      says: `${route.line} ${says} answers 400`,
      quote: specRules[rowOf[route.path] ?? '2.12'],
      appliesIn: everywhere,
      async check(site) {
        expectStatus(await tryRoute(site, route, { body }), 400);
      },
    }),
  ),
  ...['', '{"model":'].map(
    (raw): Statement => ({
      id: '4.1',
      says: `${route.line} ${raw === '' ? 'without a body' : 'with half a body'} answers 400`,
      quote: specRules['4.1'],
      appliesIn: everywhere,
      async check(site) {
        expectStatus(await tryRoute(site, route, { raw }), 400);
      },
    }),
  ),
]);

export const bodyStatements: readonly Statement[] = [
  ...managementTypes,
  ...managementRequired,
  ...inferenceBad,
];
