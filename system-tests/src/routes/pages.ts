import { allRoutes } from '@relay/contract';
import { IS_LONG } from '@relay/testbed/long-form';
import { type Answer, type Caller, itemsOf } from './answer.ts';
import type { Made } from './repeats.ts';
import { routeOf } from './route-of.ts';
import type { Walk } from './walk.ts';
import type { World } from './world.ts';

const PAGES_MAX = 500;
/** Lists that are longer are turned in about this many pages, in the short form. */
const SINGLES_MAX = 10;

/** Every list of the interface, and the fewest it has by now. */
function listsOf({ guardrail }: Made): readonly string[] {
  return [
    '/api/account/api-keys',
    '/api/org/members',
    '/api/org/invitations',
    '/api/org/api-keys',
    '/api/relay/audit-log',
    '/api/relay/providers',
    '/api/relay/credentials',
    '/api/relay/pricing-policies',
    '/api/relay/endpoints',
    '/api/relay/routing-lanes',
    '/api/relay/lane-memberships',
    '/api/relay/guardrails',
    `/api/relay/guardrails/${guardrail}/bindings`,
    '/api/relay/guardrail-presets',
    '/api/relay/provider-presets',
    '/api/relay/limit-policies',
    '/api/relay/pro/user-limit-policies',
    '/api/relay/api-key-limit-policies',
    '/api/relay/teams',
    '/api/relay/team-limit-policies',
    '/api/relay/alert-destinations',
    '/api/relay/alerts',
    '/api/relay/limits/usage',
    '/api/relay/requests',
    '/api/billing/usage-statements',
  ];
}

/** Without accounts there are no other members. */
const peopled = /members|invitations|api-key|user-limit/;
/** One key has sent everything, a guardrail comes without bindings, and no limit asks for alerts. */
const sparse = /statements|presets|bindings|alerts$/;

export function listsMissed(made: Made): string[] {
  const tried = listsOf(made).map((path) => routeOf(`GET ${path}`));
  return allRoutes
    .filter(({ plane, query }) => plane === 'management' && JSON.stringify(query ?? {}).includes('"cursor":'))
    .filter(({ id }) => !tried.includes(id))
    .map(({ id }) => id);
}

/** Page by page, every list is what it is as a whole. */
export async function walkPages({ walk }: World, caller: Caller, made: Made): Promise<void> {
  for (const path of listsOf(made)) {
    // Entries that grow without bound are always paged: the largest page stands for the whole.
    const alwaysPaged = /audit-log|requests|statements|alerts$/.test(path);
    const whole = await walk.expect(caller, `GET ${path}${alwaysPaged ? '?limit=1000' : ''}`, '200');
    if (whole.status >= 400) continue;
    const expected = itemsOf(whole).map(steady);
    const mayBeShort = sparse.test(path) || (peopled.test(path) && !walk.mode.hosted);
    if (expected.length < 3 && !mayBeShort)
      walk.fault(`GET ${path}: ${expected.length} are too few to turn pages`);
    const size = IS_LONG ? 1 : Math.ceil(expected.length / SINGLES_MAX);
    const found = await turnPages(walk, caller, path, Math.max(size, 1));
    if (JSON.stringify(found.map(steady)) !== JSON.stringify(expected))
      walk.fault(`GET ${path}: page by page they are ${found.length} and others, of ${expected.length}`);
    if (expected.length > 0) await refuseNonsense(walk, caller, path);
  }
}

async function turnPages(
  walk: Walk,
  caller: Caller,
  path: string,
  size: number,
): Promise<Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = [];
  const first = `${path}?limit=${size}`;
  let next: string | null = first;
  for (let page = 0; next !== null && page < PAGES_MAX; page += 1) {
    const answer: Answer = await walk.expect(caller, `GET ${next}`, '200');
    const items = itemsOf(answer);
    if (items.length > size) walk.fault(`GET ${path}: a page of ${size} has ${items.length}`);
    found.push(...items);
    next = nextOf(walk, first, answer);
  }
  if (next !== null) walk.fault(`GET ${path}: pages never end`);
  return found;
}

/** The way on: by the cursor and by the link, which lead to the same page. */
function nextOf(walk: Walk, first: string, { body, headers }: Answer): string | null {
  const inBody = (body as { next_cursor?: string | null }).next_cursor;
  if (inBody !== undefined) return inBody === null ? null : `${first}&cursor=${inBody}`;
  const cursor = headers.get('x-next-cursor');
  const link = headers.get('link');
  if (cursor === null) {
    if (link !== null) walk.fault(`GET ${first}: the last page has a link to ${link}`);
    return null;
  }
  if (link !== `<${first}&cursor=${cursor}>; rel="next"`)
    walk.fault(`GET ${first}: the link is ${link}, the cursor ${cursor}`);
  return `${first}&cursor=${cursor}`;
}

const nonsense: readonly (readonly [query: string, param: string])[] = [
  ['limit=0', 'limit'],
  ['limit=1001', 'limit'],
  ['limit=ten', 'limit'],
  ['limit=1&cursor=nonsense', 'cursor'],
];

async function refuseNonsense(walk: Walk, caller: Caller, path: string): Promise<void> {
  for (const [query, param] of nonsense) {
    const line = `GET ${path}?${query}`;
    const { body } = await walk.expect(caller, line, '400 invalid_request');
    const { error } = body as { error?: { param?: string; message?: string } };
    if (error?.param !== param || !error.message?.includes(param))
      walk.fault(`${line}: the refusal names ${error?.param}: ${error?.message}`);
  }
}

/** What is written down in the background, or counts down, may differ between two reads. */
function steady(item: Record<string, unknown>): Record<string, unknown> {
  const used = { first_used_at: null, last_used_at: null, last_seen_at: null };
  const counted = { resets_at: null, rate_per_hour: null, forecast: null, runs_out_at: null };
  return { ...item, ...used, ...counted };
}
