import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { IS_LONG } from '@relay/testbed/long-form';
import type { Page } from 'playwright-core';
import { startConsoleSite } from './console-site.ts';
import { openStory } from './open-story.ts';
import { pagePaths } from './page-paths.ts';
import { addMember, PASSWORD } from './people.ts';
import { seedConsole } from './seed-console.ts';
import { signInWithPassword, signInWithToken } from './sign-in.ts';

/** What holds on every page: failures, many rows, roles, themes, widths, sessions, and the other mode. */
describe('the frame', () => {
  const story = openStory(async (site) => {
    await seedConsole(site);
  });
  before(() => signInWithToken(story.page, story.site.adminToken));

  it('what could not be read says why and can be tried again', async () => {
    await story.page.route('**/api/relay/providers?*', (route) => route.abort());
    await story.page.goto('/console/providers');
    await story.page.getByText('Can’t reach Relay.').waitFor();
    await story.inspect('providers, failed');
    await story.page.unroute('**/api/relay/providers?*');
    await story.button('Try again').click();
    await story.page.getByRole('row', { name: /OpenAI/ }).waitFor();
  });

  it('of many rows only those in sight are drawn, and the last is reached', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `Zone ${String(index).padStart(3, '0')}`);
    for (let from = 0; from < names.length; from += 10)
      await Promise.all(
        names
          .slice(from, from + 10)
          .map((name) =>
            story.site.admin.create('/api/relay/providers', { name, base_url: 'https://example.com/v1' }),
          ),
      );
    await story.page.reload();
    await story.page.getByRole('row', { name: /OpenAI/ }).waitFor();
    assert.ok((await story.page.getByRole('row').count()) < 80);
    await story.page.evaluate('window.scrollTo(0, document.body.scrollHeight)');
    await story.page.getByRole('row', { name: /Zone 299/ }).waitFor();
    await story.page.getByLabel('Search providers').fill('zone 150');
    await story.page.getByRole('row', { name: /Zone 150/ }).waitFor();
    assert.match(story.page.url(), /q=zone/);
    await story.page.getByLabel('Search providers').fill('nothing like it');
    await story.button('Clear filters').click();
    await story.page.getByRole('row', { name: /OpenAI/ }).waitFor();
  });

  it('a viewer sees no control that writes, and gets nothing past the interface', async () => {
    const viewer = await addMember(story.site, 'viewer');
    const theirs = await story.open('dark', 1440);
    await signInWithPassword(theirs, viewer, PASSWORD);
    await theirs.goto('/console/providers');
    await theirs.getByRole('button', { name: 'OpenAI' }).click();
    await theirs.getByRole('dialog', { name: 'OpenAI' }).waitFor();
    for (const name of ['Add provider', 'Replace', 'Test connection', 'More actions'])
      assert.equal(await theirs.getByRole('button', { name }).count(), 0, name);
    await theirs.goto('/console/lanes');
    await theirs.getByRole('link', { name: 'Assistant' }).click();
    await theirs.getByText('Endpoints by rank').waitFor();
    assert.equal(await theirs.getByRole('button', { name: /^(Drag|Move|Remove)/ }).count(), 0);
    await story.inspect('lane, viewer', theirs);
    // Without the scope of statistics, their columns are not there.
    await theirs.getByRole('columnheader', { name: 'Concurrency' }).waitFor();
    const capabilities = '**/api/relay/capabilities';
    await theirs.route(capabilities, async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { scopes: string[] };
      const scopes = body.scopes.filter((scope) => !scope.startsWith('relay:usage:read'));
      await route.fulfill({ response: answer, json: { ...body, scopes } });
    });
    await theirs.reload();
    await theirs.getByRole('columnheader', { name: 'Signal' }).waitFor();
    for (const name of ['Concurrency', 'TTFT p95', 'Cost / request'])
      assert.equal(await theirs.getByRole('columnheader', { name }).count(), 0, name);
    await story.inspect('lane, without statistics', theirs);
    await theirs.unroute(capabilities);
    const refused = await theirs.evaluate(async () => {
      const session = (await (await fetch('/api/session')).json()) as { csrf_token: string };
      const answer = await fetch('/api/relay/providers', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-csrf-token': session.csrf_token },
        body: JSON.stringify({ name: 'Mine', base_url: 'https://example.com/v1' }),
      });
      return [answer.status, await answer.text()] as const;
    });
    assert.equal(refused[0], 403);
    assert.match(refused[1], /relay:providers:manage/);
    await theirs.context().close();
  });

  const WIDTHS_PX = { light: [1440, 390], dark: [390, 1440] } as const;
  // The short form looks at dark pages in the story of keys alone.
  for (const theme of IS_LONG ? (['light', 'dark'] as const) : (['light'] as const)) {
    const [firstPx, secondPx] = WIDTHS_PX[theme];
    it(`every page holds in ${theme}, at ${firstPx} px and at ${secondPx} px`, async () => {
      const other = await story.open(theme, firstPx);
      await signInWithToken(other, story.site.adminToken);
      for (const path of pagePaths) {
        await other.goto(`/console/${path}`);
        await other.getByRole('heading', { level: 1 }).waitFor();
        // Skeletons disappear once the data is shown.
        await other.locator('main [data-skeleton]').first().waitFor({ state: 'detached' });
        // Both themes and both widths are looked at closely once; at the other width the page must only fit.
        await story.inspect(path, other);
        await assertFits(other, path);
        await other.setViewportSize({ width: secondPx, height: 900 });
        await assertFits(other, path);
        await other.setViewportSize({ width: firstPx, height: 900 });
      }
      await other.context().close();
    });
  }

  async function assertFits(page: Page, path: string): Promise<void> {
    const overflowPx = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    assert.equal(overflowPx, 0, `${path} is wider than the window`);
  }

  it('a session that ended shows the sign-in page, and signing in goes on where one was', async () => {
    await story.page.goto('/console/providers');
    await story.button('OpenAI').click();
    await story.button('Test connection').waitFor();
    await story.page.context().clearCookies();
    await story.button('Test connection').click();
    await story.button('Sign in with the admin token').click();
    await story.page.getByLabel('Admin token').fill(story.site.adminToken);
    await story.button('Sign in').click();
    await story.page.getByRole('dialog', { name: 'OpenAI' }).waitFor();
    await story.page.keyboard.press('Escape');
    await story.button('Owner').click();
    await story.page.getByRole('menuitem', { name: 'Sign out' }).click();
    await story.page.getByRole('heading', { name: 'Sign in to Relay' }).waitFor();
  });

  it('hosted: somebody signs up, and sees their own organization and mode', async () => {
    const hosted = await startConsoleSite({
      RELAY_MODE: 'hosted',
      RELAY_API_TOKEN: '',
      RELAY_ADMIN_TOKEN: '',
    });
    try {
      const guest = await story.open('light', 1440, hosted.url);
      await guest.goto('/');
      await guest.getByRole('button', { name: 'Create an organization' }).click();
      await story.inspect('sign-up', guest);
      await guest.getByLabel('Organization name').fill('Acme');
      await guest.getByLabel('Your name').fill('Ada');
      await guest.getByLabel('Email').fill('ada@example.com');
      await guest.getByLabel('Password').fill(PASSWORD);
      await guest.getByRole('button', { name: 'Create organization', exact: true }).click();
      await guest.getByText('Hosted').first().waitFor();
      await guest.getByText('Acme').first().waitFor();
      await guest.context().close();
    } finally {
      await hosted.stop();
    }
  });

  it('nothing on the way hurt accessibility, the policy of the page, or the browser', () =>
    story.assertNothingFound());
});
