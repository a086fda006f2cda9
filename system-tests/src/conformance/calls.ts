import { type SpecRoute, specInferenceRoutes, specManagementRoutes } from '@relay/contract/specification';
import type { Answer, Sending } from './exchange.ts';
import { everywhere, type Mode, selfHosted } from './mode.ts';
import { createBodies, type Ids, NO_ID, objects, type SetName } from './objects.ts';
import type { Site } from './site.ts';

export const specRoutes: readonly SpecRoute[] = [...specInferenceRoutes, ...specManagementRoutes];

/** In which modes a caller who may do everything gets the route's success status. */
export function servedIn({ path }: SpecRoute): (mode: Mode) => boolean {
  if (path.startsWith('/api/relay/limit-policies')) return selfHosted;
  return everywhere;
}

export const WORDS = 'Say hello.';
const messages = [{ role: 'user', content: WORDS }];

/** A good body of each of the three inference operations. */
export const inferenceBodies: Readonly<Record<string, object>> = {
  '/chat/completions': { messages },
  '/responses': { input: WORDS },
  '/embeddings': { input: WORDS },
};

/** The address of a route on the deployment, with these ids in its place. */
export function addressOf({ server, path, queryParameters }: SpecRoute, ids: Readonly<Ids>): string {
  const full = (server === '{base_url}' ? '/v1' : '') + path;
  const filled = full.replaceAll(/\{(\w+)\}/g, (_, name: keyof Ids) => ids[name]);
  if (queryParameters === undefined) return filled;
  const limit = path.includes('/pro/') ? ids.user_limit_uuid : ids.key_limit_uuid;
  return `${filled}?limit_uuid=${limit}`;
}

/** A body with which the route succeeds. */
export function bodyOf(site: Site, { line, server, path }: SpecRoute, ids: Ids, set: SetName): object {
  if (server === '{base_url}') return { model: 'plain', ...inferenceBodies[path] };
  const made = createBodies(site, set, ids);
  const changes: Readonly<Record<string, object>> = {
    'PATCH /api/account': { name: 'Ada Lovelace' },
    'PATCH /api/account/preferences': { marketing_opt_in: true },
    'PATCH /api/account/api-keys/{api_key_id}': { name: 'Renamed workload' },
    'PUT /api/relay/routing-lanes/{group_id}': {
      name: 'Changed group',
      default_max_wait_ms: 4_321,
      allow_fallback: true,
      enabled: false,
    },
    'PUT /api/relay/lane-memberships/{membership_id}': { manual_rank: 7, enabled: false },
    'PUT /api/relay/guardrails/{guardrail_id}': { name: 'Changed guardrail', enabled: true },
    'PUT /api/relay/limit-policies/{policy_id}': {
      ...made['POST /api/relay/limit-policies'],
      limit_value: 999_999_999,
      enabled: false,
    },
  };
  return changes[line] ?? made[line] ?? {};
}

/** What the route answers to a caller who may call it; each route is called once. */
export function success(site: Site, route: SpecRoute): Promise<Answer> {
  return site.once(`success ${route.line}`, async () => {
    const set: SetName = route.method === 'DELETE' ? 'spare' : 'kept';
    const { ids, answers } = await objects(site, set);
    const made = answers.get(route.line);
    if (made !== undefined) return made;
    return site.call(route.method, addressOf(route, ids), bodySent(site, route, ids, set));
  });
}

/** The call as it would succeed, but for what `sending` changes. Ids are those of objects that exist. */
export async function tryRoute(site: Site, route: SpecRoute, sending: Sending): Promise<Answer> {
  const { ids } = await objects(site, 'kept');
  return site.call(route.method, addressOf(route, ids), {
    ...bodySent(site, route, ids, 'kept'),
    ...sending,
  });
}

export function bodySent(site: Site, route: SpecRoute, ids: Ids, set: SetName): Sending {
  return route.bodyFields === undefined ? {} : { body: bodyOf(site, route, ids, set) };
}

/** Ids that nothing has. */
export const noIds: Ids = {
  api_key_id: NO_ID,
  group_id: NO_ID,
  membership_id: NO_ID,
  guardrail_id: NO_ID,
  policy_id: NO_ID,
  endpoint_id: NO_ID,
  user_limit_uuid: NO_ID,
  key_limit_uuid: NO_ID,
};

export function routeOf(line: string): SpecRoute {
  const route = specRoutes.find((each) => each.line === line);
  if (route === undefined) throw new Error(`the specification has no ${line}`);
  return route;
}
