import { type Account, allRoutes, allScopes } from '@relay/contract';
import { adminClient } from '../harness/admin-client.ts';
import { addressOf, sampleOf } from '../harness/examples.ts';
import { addObjects } from '../harness/objects.ts';
import { bearer, relayFetch } from '../harness/relay-fetch.ts';
import { signedIn } from '../harness/signed-in.ts';
import type { Site } from './site.ts';

/** Replaces the objects that the others name. */
const LEFT_OUT: readonly string[] = ['applyConfig'];

/** Routes that name nothing: what such a handler does not find is the caller. What deletes has its objects named in a body. */
const asked = allRoutes.filter(
  ({ id, plane, method, params, access }) =>
    plane === 'management' &&
    method !== 'DELETE' &&
    params === undefined &&
    access !== 'public' &&
    !LEFT_OUT.includes(id),
);

const PEOPLE: readonly string[] = ['Account', 'API keys', 'Organization', 'Session'];

type Headers = Readonly<Record<string, string>>;

/** What is wrong: the routes that answer 404 or 500 to a token, in each state that an owner or an earlier version can bring about. */
export async function checkTokens(site: Site): Promise<string[]> {
  const { deployment, accounts } = site;
  const { body } = await deployment.admin.call('GET', '/api/account');
  const { user, org } = body as Account;
  const owned = { organizationId: org.id, callerId: user.id };
  const upstreamUrl = 'http://127.0.0.1:9/v1';
  const ownerId = await accounts.addMember(org.id, { role: 'owner' });
  const { key } = await accounts.addKey({ ...owned, userId: ownerId, scopes: allScopes });
  await deployment.everywhere();
  const owner = adminClient(deployment.url, key);
  const path = `/api/org/members/${user.id}`;
  const wrong: string[] = [];
  const mustBe = (what: string, status: number, expected: number) => {
    if (status !== expected) wrong.push(`${what} is ${status}, not ${expected}`);
  };
  const states: Readonly<Record<string, () => Promise<unknown>>> = {
    'as it starts': () => Promise.resolve(),
    'after an owner removed, demoted and suspended it': async () => {
      mustBe('removing it', (await owner.call('DELETE', path)).status, 404);
      for (const change of [{ role: 'viewer' }, { status: 'suspended' }])
        mustBe(JSON.stringify(change), (await owner.call('PATCH', path, change)).status, 404);
    },
    'after an earlier version removed it': () =>
      accounts.query('delete from organization_members where user_id = $1', [user.id]).catch(() => undefined),
    'after a restart': () => deployment.restart(),
  };
  let round = 0;
  for (const [state, bring] of Object.entries(states)) {
    await bring();
    round += 1;
    const objects = await addObjects(accounts, { ...owned, upstreamUrl, suffix: `-${round}` });
    await accounts.changed(org.id);
    await deployment.everywhere();
    const { url, adminToken, apiToken } = deployment;
    const callers: Readonly<Record<string, Headers>> = {
      'admin token': bearer(adminToken),
      'session of the admin token': await signedIn(deployment),
      'API token': bearer(apiToken),
    };
    for (const [caller, headers] of Object.entries(callers)) {
      // After the first round, only what is about people.
      for (const route of round === 1 ? asked : asked.filter(({ tag }) => PEOPLE.includes(tag))) {
        const sample = sampleOf[route.id](objects);
        const request = { headers, body: sample.body };
        const { status, summary } = await relayFetch(url, route.method, addressOf(route, sample), request);
        if (status === 404 || status === 500) wrong.push(`${route.id} by the ${caller} ${state}: ${summary}`);
      }
    }
    await removeDestinations(site, org.id);
  }
  const listed = (await owner.call('GET', '/api/org/members')).body as { id: string }[];
  if (listed.some(({ id }) => id === user.id)) wrong.push('it is listed among the members');
  return wrong;
}

/** An organization may have only so many. */
function removeDestinations({ accounts }: Site, organizationId: string): Promise<unknown> {
  return accounts.query('delete from alert_destinations where organization_id = $1', [organizationId]);
}
