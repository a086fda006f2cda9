import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { Deployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { launchChromium, openContext, type Theme } from './chromium.ts';
import { startConsoleSite } from './console-site.ts';
import { addMember, PASSWORD } from './people.ts';
import { signInWithPassword, signInWithToken } from './sign-in.ts';
import { inspect, newFindings, watch } from './visit.ts';

/** One story on one deployment, from nothing to a first answer and on; each step stands on those before it. */
describe('the console', () => {
  const findings = newFindings();
  let site: Deployment;
  let browser: Browser;
  let page: Page;

  before(async () => {
    [site, browser] = await Promise.all([startConsoleSite(), launchChromium()]);
    page = await open('light', 1440);
  });
  after(async () => {
    reportFigures({ pages: findings.pages.size, axe_violations: findings.violations.length });
    await browser?.close();
    await site?.stop();
  });

  async function open(theme: Theme, widthPx: number, url = site.url): Promise<Page> {
    const context = await openContext(browser, { url, theme, widthPx });
    const opened = await context.newPage();
    opened.setDefaultTimeout(10_000);
    watch(opened, findings);
    return opened;
  }
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
  const toPage = (name: string) =>
    page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click();

  it('a wrong admin token is refused with a reason, and the right one opens the shell', async () => {
    await page.goto('/');
    await page.waitForURL('**/console/**');
    await button('Sign in with the admin token').click();
    await page.getByLabel('Admin token').fill('wrong');
    await button('Sign in').click();
    await page.getByRole('alert').getByText('RELAY_ADMIN_TOKEN').waitFor();
    await inspect(page, 'sign-in', findings);
    await signInWithToken(page, site.adminToken);
    await page.getByText('Self-hosted').first().waitFor();
  });

  it('a new deployment says on every page what comes first', async () => {
    const firsts = {
      Playground: 'There is nothing to call yet',
      Lanes: 'create the first one',
      Endpoints: 'there is no provider yet',
      Providers: 'add the first one',
      'API keys': 'create the first one',
    };
    for (const [name, sentence] of Object.entries(firsts)) {
      await toPage(name);
      await page.getByText(sentence).waitFor();
      await inspect(page, `${name}, empty`, findings);
    }
  });

  it('a provider is added, tested, and its models become endpoints', async () => {
    await toPage('Providers');
    await button('Add provider').first().click();
    await button(/^Other/).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Simulated');
    await page.getByLabel('Base URL').fill('not an address');
    await page.getByRole('textbox', { name: 'Name', exact: true }).click();
    await page.getByText('Must be an http or https URL').waitFor();
    await page.getByLabel('Base URL').fill(site.provider.baseUrl);
    await page.getByLabel('API key of the provider').fill('sk-upstream');
    await button('Add provider').last().click();
    await page.getByRole('dialog', { name: 'Simulated' }).waitFor();
    await button('Test connection').click();
    await page.getByText('It works').waitFor();
    await inspect(page, 'provider', findings);
    for (const model of ['sim-chat', 'sim-chat-b', 'sim-multi'])
      await page.getByRole('checkbox', { name: model, exact: true }).check();
    await button('Create 3 endpoints').click();
    await page.getByText('3 endpoints were created.').waitFor();
    await page.keyboard.press('Escape');
    await page
      .getByRole('row', { name: /Simulated/ })
      .getByText('Stored')
      .waitFor();
  });

  it('a credential that the provider does not take is told apart from an address that is wrong', async () => {
    const broken = await site.admin.create('/api/relay/providers', {
      name: 'Broken',
      base_url: `${site.provider.baseUrl.replace(/\/v1$/, '')}`,
    });
    await site.admin.create('/api/relay/credentials', {
      provider_id: broken.id,
      name: 'primary',
      secret: 'sk-upstream',
    });
    await page.goto(`/console/providers?open=${broken.id}`);
    await button('Test connection').click();
    await page.getByText('/v1').last().waitFor();
    await page.getByText('failed').first().waitFor();
    await button('More actions').first().click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await button('Delete').click();
    await page.getByText('Broken was deleted.').waitFor();
  });

  it('an endpoint has a price, and a test that is billed', async () => {
    await toPage('Endpoints');
    await button('sim-chat').first().click();
    await button('Set price').click();
    await page.getByLabel(/^Input/).fill('0.4');
    await page.getByLabel(/^Output/).fill('1.60');
    await button('Save').click();
    await page.getByText('$0.40 for a million tokens').waitFor();
    await button('Test connection').click();
    await page.getByText('It works').waitFor();
    await inspect(page, 'endpoint', findings);
    await page.keyboard.press('Escape');
  });

  it('a lane is created, reordered by mouse, by keyboard and by buttons, and saved with its difference', async () => {
    await toPage('Lanes');
    await button('Create lane').first().click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Assistant');
    for (const model of ['sim-chat', 'sim-chat-b', 'sim-multi'])
      await page.getByRole('checkbox', { name: model, exact: true }).check();
    await button('Create lane').last().click();
    await page.getByRole('heading', { name: 'Assistant', level: 1 }).waitFor();
    await inspect(page, 'lane', findings);
    assert.deepEqual(await membersShown(), ['sim-chat', 'sim-chat-b', 'sim-multi']);

    await button('Move sim-multi up').click();
    assert.deepEqual(await membersShown(), ['sim-chat', 'sim-multi', 'sim-chat-b']);

    const from = await button('Drag sim-chat-b').boundingBox();
    const to = await button('Drag sim-chat').first().boundingBox();
    assert.ok(from !== null && to !== null);
    await page.mouse.move(from.x + 8, from.y + 8);
    await page.mouse.down();
    await page.mouse.move(from.x + 8, from.y - 20, { steps: 5 });
    await page.mouse.move(to.x + 8, to.y + 2, { steps: 15 });
    await page.mouse.up();
    await memberAt(0, 'sim-chat-b').waitFor();
    assert.deepEqual(await membersShown(), ['sim-chat-b', 'sim-chat', 'sim-multi']);

    await button('Drag sim-multi').focus();
    await page.keyboard.press('Space');
    // The library takes its measure of the list before it listens for arrows.
    await page.getByText('sim-multi is now 3 of 3.').first().waitFor({ state: 'attached' });
    await page.waitForTimeout(100);
    await page.keyboard.press('ArrowUp');
    await page.getByText('sim-multi is now 2 of 3.').first().waitFor({ state: 'attached' });
    await page.keyboard.press('Space');
    await memberAt(1, 'sim-multi').waitFor();

    await page.getByLabel('Milliseconds').fill('2500');
    await button('Review and save').click();
    await page.getByText('sim-chat-b moves from place 2 to 1').waitFor();
    await inspect(page, 'lane, saving', findings);
    await button('Save').click();
    await page.getByText('Assistant was saved.').waitFor();
    await page.reload();
    await page.getByText('2.5 sec').first().waitFor();
    assert.deepEqual(await membersShown(), ['sim-chat-b', 'sim-multi', 'sim-chat']);
  });

  const memberAt = (place: number, name: string) =>
    page
      .getByRole('listitem')
      .filter({ has: page.getByRole('button', { name: /^Drag / }) })
      .nth(place)
      .getByRole('button', { name: `Drag ${name}`, exact: true });
  const membersShown = async () => {
    const handles = await page.getByRole('button', { name: /^Drag / }).all();
    const labels = await Promise.all(handles.map((handle) => handle.getAttribute('aria-label')));
    return labels.map((label) => label?.replace('Drag ', ''));
  };

  it('the lane explains what would happen to a request without sending it', async () => {
    const before = site.provider.counts().requests;
    await button('Explain').click();
    await page.getByText('It would go to sim-chat-b at once.').waitFor();
    assert.equal(site.provider.counts().requests, before);
  });

  it('the playground streams a first answer and shows what Relay decided', async () => {
    await toPage('Playground');
    await page.getByLabel('Your message').fill('Hello');
    await page.keyboard.press('Enter');
    await page.getByText('Tokens in / out').waitFor();
    await page.getByRole('definition').getByText('sim-chat-b').first().waitFor();
    await inspect(page, 'playground', findings);
    await button('View code').click();
    await page.getByRole('tab', { name: 'LangChain' }).click();
    await page.getByText('ChatOpenAI').first().waitFor();
    await inspect(page, 'playground, code', findings);
    await page.keyboard.press('Escape');
  });

  it('a refusal by a limit names the policy and counts down', async () => {
    const lanes = (await site.admin.call('GET', '/api/relay/routing-lanes')).body as { id: string }[];
    const policy = await site.admin.create('/api/relay/limit-policies', {
      scope_type: 'lane',
      scope_id: lanes[0]?.id,
      metric: 'requests',
      period: 'minute',
      limit_value: 1,
    });
    await button('New conversation').click();
    const refusal = page.getByText('requests per minute on this lane');
    // Gateways learn of the policy within a second; until then a request passes.
    for (let attempt = 0; attempt < 10 && !(await refusal.isVisible()); attempt += 1) {
      await page.getByLabel('Your message').fill('Hello again');
      await button('Run').click();
      await button('Run').waitFor();
    }
    await refusal.waitFor();
    const timer = page.getByRole('timer');
    const first = await timer.textContent();
    await timer.filter({ hasNotText: first ?? '' }).waitFor();
    assert.equal(await button('Send again').isDisabled(), true);
    await inspect(page, 'playground, refused', findings);
    await site.admin.call('DELETE', `/api/relay/limit-policies/${policy.id}`);
  });

  it('a key is shown once, cannot be closed away unsaved, works, and stops when revoked', async () => {
    await toPage('API keys');
    await button('Create key').first().click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Support bot');
    await inspect(page, 'keys, creating', findings);
    await button('Create key').last().click();
    const secret = (await page.getByTestId('new-key').textContent()) ?? '';
    assert.match(secret, /^rly_/);
    await page.keyboard.press('Escape');
    assert.equal(await page.getByTestId('new-key').isVisible(), true);
    assert.equal(await button('Done').isDisabled(), true);
    await inspect(page, 'keys, shown once', findings);
    await page.getByLabel('I have saved it somewhere safe').check();
    await button('Done').click();
    await page.getByTestId('new-key').waitFor({ state: 'detached' });
    assert.doesNotMatch(await page.content(), new RegExp(secret.slice(14)));
    const models = () => fetch(`${site.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
    assert.equal((await models()).status, 200);
    await inspect(page, 'keys', findings);
    await button('More actions: Support bot').click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Help desk');
    await button('Save').click();
    await button('More actions: Help desk').click();
    await page.getByRole('menuitem', { name: 'Revoke' }).click();
    await button('Revoke').click();
    await page.getByText('Help desk was revoked.').waitFor();
    assert.equal((await models()).status, 401);
    await page.getByText('Nothing matches these filters.').waitFor();
  });

  it('the palette goes anywhere by name, with the keyboard alone', async () => {
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder(/Search pages/).fill('assist');
    await page.getByRole('option', { name: 'Assistant' }).waitFor();
    await inspect(page, 'palette', findings);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Assistant', level: 1 }).waitFor();
  });

  it('what could not be read says why and can be tried again', async () => {
    await page.route('**/api/relay/providers?*', (route) => route.abort());
    await page.goto('/console/providers');
    await page.getByText('The server did not answer').waitFor();
    await inspect(page, 'providers, failed', findings);
    await page.unroute('**/api/relay/providers?*');
    await button('Try again').click();
    await page.getByRole('row', { name: /Simulated/ }).waitFor();
  });

  it('of many rows only those in sight are drawn, and the last is reached', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `Zone ${String(index).padStart(3, '0')}`);
    for (let from = 0; from < names.length; from += 10)
      await Promise.all(
        names
          .slice(from, from + 10)
          .map((name) =>
            site.admin.create('/api/relay/providers', { name, base_url: 'https://example.com/v1' }),
          ),
      );
    await page.reload();
    await page.getByRole('row', { name: /Simulated/ }).waitFor();
    assert.ok((await page.getByRole('row').count()) < 80);
    await page.evaluate('window.scrollTo(0, document.body.scrollHeight)');
    await page.getByRole('row', { name: /Zone 299/ }).waitFor();
    await page.getByLabel('Search providers').fill('zone 150');
    await page.getByRole('row', { name: /Zone 150/ }).waitFor();
    assert.match(page.url(), /q=zone/);
    await page.getByLabel('Search providers').fill('nothing like it');
    await button('Clear filters').click();
    await page.getByRole('row', { name: /Simulated/ }).waitFor();
  });

  it('a viewer sees no control that writes, and gets nothing past the interface', async () => {
    const viewer = await addMember(site, 'viewer');
    const theirs = await open('dark', 1440);
    await signInWithPassword(theirs, viewer, PASSWORD);
    await theirs.goto('/console/providers');
    await theirs.getByRole('button', { name: 'Simulated' }).click();
    await theirs.getByRole('dialog', { name: 'Simulated' }).waitFor();
    for (const name of ['Add provider', 'Replace', 'Test connection', 'More actions'])
      assert.equal(await theirs.getByRole('button', { name }).count(), 0, name);
    await theirs.goto('/console/lanes');
    await theirs.getByRole('link', { name: 'Assistant' }).click();
    await theirs.getByText('Endpoints, preferred first').waitFor();
    assert.equal(await theirs.getByRole('button', { name: /^(Drag|Move|Take)/ }).count(), 0);
    await inspect(theirs, 'lane, viewer', findings);
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

  for (const theme of ['light', 'dark'] as const) {
    for (const widthPx of [1440, 390]) {
      it(`every page holds in ${theme} at ${widthPx} px`, async () => {
        const other = await open(theme, widthPx);
        await signInWithToken(other, site.adminToken);
        for (const path of ['playground', 'lanes', 'endpoints', 'providers', 'keys']) {
          await other.goto(`/console/${path}`);
          await other.getByRole('heading', { level: 1 }).waitFor();
          // The skeletons are gone when what they stood for is there.
          await other.locator('main .animate-pulse').first().waitFor({ state: 'detached' });
          // Both themes and both widths are looked at closely once; the other two pairs must only fit.
          if ((theme === 'light') === (widthPx === 1440)) await inspect(other, path, findings);
          const overflowPx = await other.evaluate(
            'document.documentElement.scrollWidth - document.documentElement.clientWidth',
          );
          assert.equal(overflowPx, 0, `${path} is wider than the window`);
        }
        await other.context().close();
      });
    }
  }

  it('a session that ended shows the sign-in page, and signing in goes on where one was', async () => {
    await page.goto('/console/providers');
    await button('Simulated').click();
    await button('Test connection').waitFor();
    await page.context().clearCookies();
    await button('Test connection').click();
    await button('Sign in with the admin token').click();
    await page.getByLabel('Admin token').fill(site.adminToken);
    await button('Sign in').click();
    await page.getByRole('dialog', { name: 'Simulated' }).waitFor();
    await page.keyboard.press('Escape');
    await button('Owner').click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Relay' }).waitFor();
  });

  it('hosted: somebody signs up, and sees their own organization and mode', async () => {
    const hosted = await startConsoleSite({
      RELAY_MODE: 'hosted',
      RELAY_API_TOKEN: '',
      RELAY_ADMIN_TOKEN: '',
    });
    try {
      const guest = await open('light', 1440, hosted.url);
      await guest.goto('/');
      await guest.getByRole('button', { name: 'Create an organization' }).click();
      await inspect(guest, 'sign-up', findings);
      await guest.getByLabel('Name of the organization').fill('Acme');
      await guest.getByLabel('Your name').fill('Ada');
      await guest.getByLabel('E-mail').fill('ada@example.com');
      await guest.getByLabel('Password').fill(PASSWORD);
      await guest.getByRole('button', { name: 'Create', exact: true }).click();
      await guest.getByText('Hosted').first().waitFor();
      await guest.getByText('Acme').first().waitFor();
      await guest.context().close();
    } finally {
      await hosted.stop();
    }
  });

  it('nothing on the way hurt accessibility, the policy of the page, or the browser', () => {
    assert.deepEqual(findings.violations, []);
    assert.deepEqual(findings.complaints, []);
  });
});
