import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  allRoutes,
  isScope,
  type RouteId,
  routeAccess,
  scopesSatisfy,
  selfHostedRoutes,
} from '@relay/contract';
import type { Page, Response } from 'playwright-core';
import { type Accounts, openAccounts } from '../harness/accounts.ts';
import type { Deployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { startConsoleSite } from './console-site.ts';
import { openStory } from './open-story.ts';
import { PASSWORD } from './people.ts';
import { type RoleAction, roleActions } from './role-actions.ts';
import { type Caller, seedFor, seedOrganization } from './seed-roles.ts';
import { signInWithPassword, signInWithToken } from './sign-in.ts';
import { perform, quietOf } from './walk-action.ts';

/** Writes without a control in the console, or whose forms have stories of their own. */
const ELSEWHERE: ReadonlySet<RouteId> = new Set<RouteId>([
  'acceptInvitation',
  'confirmPasswordReset',
  'confirmTotp',
  'createMembership',
  'createSession',
  'deleteCredential',
  'deleteLimitPolicy',
  'deleteApiKeyLimitPolicy',
  'deleteMembership',
  'deleteSession',
  'deleteTeamLimitPolicy',
  'deleteUserLimitPolicy',
  'explainRouting',
  'planPrices',
  'receiveStripeEvent',
  'removeTotp',
  'requestPasswordReset',
  'requestSignUp',
  'revokeSession',
  'signUp',
  'updateLimitPolicy',
  'updateMembership',
  'updateSession',
  'whatIf',
]);

const ROLES = ['owner', 'admin', 'developer', 'viewer', 'billing'] as const;

describe('roles', () => {
  const story = openStory();
  let hosted: Deployment;
  let accounts: Accounts;
  const off: string[] = [];
  const seen = { roles: ROLES.length, modes: 3, pages: 0, actions: 0, sent: 0 };

  before(async () => {
    await seedOrganization(story.site);
    hosted = await startConsoleSite({ RELAY_MODE: 'hosted', RELAY_API_TOKEN: '', RELAY_ADMIN_TOKEN: '' });
    accounts = openAccounts({
      databaseUrl: hosted.postgres.url,
      authSecret: hosted.env['RELAY_AUTH_SECRET'] ?? '',
    });
  });
  after(async () => {
    reportFigures({ ...seen, off: off.length });
    await accounts?.close();
    await hosted?.stop();
  });

  /** Walks all pages and actions as the caller, and answers what is off. */
  async function walk(page: Page, caller: Caller): Promise<void> {
    const found: string[] = [];
    const note = (what: string) => found.push(`${caller.mode}, ${caller.role}: ${what}`);
    page.on('response', (response: Response) => {
      const { pathname } = new URL(response.url());
      // The playground asks until the request that just ended is in the log.
      const isLate = response.status() === 404 && pathname.startsWith('/api/relay/requests/');
      if (response.status() >= 400 && pathname.startsWith('/api/') && !isLate)
        note(`${response.request().method()} ${pathname} answered ${response.status()}`);
    });
    const quiet = quietOf(page);
    const may = await permissionsOf(page, caller);
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    for (const path of await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')))) {
      await links.and(page.locator(`[href="${path}"]`)).click();
      await page.waitForURL(`**${path}*`);
      await quiet();
      seen.pages += 1;
    }
    for (const action of roleActions) {
      const expected = may(action);
      const { isOffered, problem } = await perform(page, action, { me: caller.name, expected, quiet });
      if (isOffered !== expected)
        note(`${action.route} is ${isOffered ? '' : 'not '}offered on ${action.page}`);
      if (problem !== null) note(`${action.route}: ${problem}`);
      seen.actions += 1;
      if (isOffered && action.isOnlySeen === undefined) seen.sent += 1;
    }
    off.push(...found);
    assert.deepEqual(found, []);
  }

  it('every write of the contract has an action here, or a story of its own', () => {
    const here = new Set<RouteId>(roleActions.map(({ route }) => route));
    const writes = allRoutes.filter(({ plane, method }) => plane === 'management' && method !== 'GET');
    const wrong = writes.filter(({ id }) => here.has(id) === ELSEWHERE.has(id)).map(({ id }) => id);
    assert.deepEqual(wrong, []);
  });

  for (const role of ROLES)
    it(`self-hosted, what a member with the role ${role} may do has a place, and nothing else, and it succeeds`, async () => {
      const caller = await seedFor(story.site, { mode: 'self_hosted', role });
      const page = await story.open('light', 1440);
      await signInWithPassword(page, caller.email, PASSWORD);
      await walk(page, caller);
      await page.context().close();
    });

  it('self-hosted, what the admin token may do has a place, and nothing else, and it succeeds', async () => {
    const caller = await seedFor(story.site, { mode: 'self_hosted', role: 'token' });
    await signInWithToken(story.page, story.site.adminToken);
    await walk(story.page, caller);
  });

  for (const role of ROLES)
    it(`in a hosted organization, what a member with the role ${role} may do has a place, and nothing else, and it succeeds`, async () => {
      const site = await hostedOrganization();
      const caller = await seedFor(site, { mode: 'hosted', role });
      const page = await story.open('light', 1440, hosted.url);
      await signInWithPassword(page, caller.email, PASSWORD);
      await walk(page, caller);
      await page.context().close();
    });

  let organization: Promise<Deployment> | undefined;
  /** The hosted deployment, with a key of an owner in the place of the admin token. */
  function hostedOrganization(): Promise<Deployment> {
    organization ??= seedOrganization(hosted, accounts);
    return organization;
  }
});

/** Whether the caller may do something, by the contract's table of routes and the scopes that the server names. */
async function permissionsOf(page: Page, caller: Caller): Promise<(action: RoleAction) => boolean> {
  const answer = await page.request.get('/api/relay/capabilities');
  const { scopes } = (await answer.json()) as { scopes: string[] };
  const held = new Set(scopes.filter(isScope));
  return ({ route, only }) => {
    if (only === 'people' && caller.role === 'token') return false;
    if (only === 'owners' && caller.role !== 'owner' && caller.role !== 'token') return false;
    if (caller.mode === 'hosted' && selfHostedRoutes.has(route)) return false;
    return scopesSatisfy(routeAccess[route], held);
  };
}
