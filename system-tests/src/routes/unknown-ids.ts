import { allRoutes, type Route } from '@relay/contract';
import { IS_LONG } from '@relay/testbed/long-form';
import { sampleOf } from '../harness/examples.ts';
import { type Caller, NO_ID } from './answer.ts';
import type { World } from './world.ts';

const MALFORMED = ['not-an-id', '1', `${NO_ID}0`, NO_ID.replaceAll('-', ''), '%00', '%F0%9F%99%82'];
const limit = { metric: 'requests', period: 'month', limit_value: 1, enabled: true };

/** The session routes have IDs of browser sessions, which keys cannot name. */
const idRoutes = allRoutes.filter(
  ({ plane, access, params, query }) =>
    plane === 'management' &&
    access !== 'session_only' &&
    access !== 'public' &&
    (params !== undefined ||
      (query !== undefined && 'limit_uuid' in propertiesOf(query) && isRequired(query))),
);

function propertiesOf(schema: NonNullable<Route['query']>): object {
  return (schema as { properties?: object }).properties ?? {};
}

function isRequired(schema: NonNullable<Route['query']>): boolean {
  return (schema as { required?: readonly string[] }).required?.includes('limit_uuid') === true;
}

/** Whether something is elsewhere, was never there or cannot be there is not told apart. Returns how many routes were asked. */
export async function askForUnknown({ walk, foreign, memberId }: World, caller: Caller): Promise<number> {
  for (const [index, route] of idRoutes.entries()) {
    const { path = [], query = {}, body } = sampleOf[route.id](foreign);
    const { limit_uuid } = query;
    const lineOf = (id: string) => {
      const filled = route.path.replace(/\{\w+\}/, id);
      return `${route.method} ${filled}${limit_uuid === undefined ? '' : `?limit_uuid=${id}`}`;
    };
    const own = path[0] ?? limit_uuid ?? '';
    // The example itself names an object of another organization.
    const malformed = IS_LONG ? MALFORMED : [MALFORMED[index % MALFORMED.length] ?? ''];
    for (const id of [own, NO_ID, ...malformed])
      await walk.expect(caller, lineOf(id), '404 not_found', { body });
    // A query is checked like a body; a path as long as this leads nowhere, whatever the mode.
    const { summary } = await walk.send(caller, lineOf('x'.repeat(101)), { body });
    const expected = limit_uuid === undefined ? '404 not_found' : '400 invalid_request';
    if (summary !== expected) walk.fault(`${route.id} with a long id is ${summary} instead of ${expected}`);
  }
  const budgets = [
    ['pro/user-limit-policies', foreign.userPolicyId, { user_uuid: memberId }],
    ['api-key-limit-policies', foreign.keyPolicyId, { api_key_uuid: foreign.keyId }],
    ['team-limit-policies', foreign.spareTeamPolicyId, { team_uuid: foreign.teamId }],
  ] as const;
  for (const [path, elsewhere, subject] of budgets) {
    for (const limit_uuid of [NO_ID, 'not-an-id', elsewhere]) {
      const body = { limit_uuid, target_type: 'global', ...limit, ...subject };
      await walk.expect(caller, `POST /api/relay/${path}`, '404 not_found', { body });
    }
  }
  return idRoutes.length;
}
