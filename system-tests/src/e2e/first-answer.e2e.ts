import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { accountsOverApi } from '../harness/accounts-over-api.ts';
import { createLane } from '../harness/admin-client.ts';
import { openStory } from './open-story.ts';
import { signInWithToken } from './sign-in.ts';

/** From an empty deployment to the first response; each step builds on those before it. */
describe('a new deployment', () => {
  const story = openStory();

  it('a wrong admin token is refused with a reason, and the right one opens the shell', async () => {
    await story.page.goto('/');
    await story.page.waitForURL('**/console/**');
    await story.button('Sign in with the admin token').click();
    await story.page.getByLabel('Admin token').fill('wrong');
    await story.button('Sign in').click();
    await story.page.getByRole('alert').getByText('RELAY_ADMIN_TOKEN').waitFor();
    await story.inspect('sign-in');
    await signInWithToken(story.page, story.site.adminToken);
    await story.page.getByText('Self-hosted').first().waitFor();
  });

  it('a new deployment says on every page what comes first', async () => {
    const firsts = {
      Playground: 'No lanes or models to call yet.',
      Lanes: 'No lanes yet.',
      Endpoints: 'No endpoints yet. Add a provider first.',
      Providers: 'No providers yet.',
      'API keys': 'No keys yet.',
    };
    for (const [name, sentence] of Object.entries(firsts)) {
      await story.toPage(name);
      await story.page.getByText(sentence).waitFor();
      await story.inspect(`${name}, empty`);
    }
  });

  it('a provider is added, tested, and its models become endpoints', async () => {
    await story.toPage('Providers');
    await story.button('Add provider').first().click();
    await story.button(/^Other/).click();
    await story.page.getByRole('textbox', { name: 'Name', exact: true }).fill('Simulated');
    await story.page.getByLabel('Base URL').fill('not an address');
    await story.page.getByRole('textbox', { name: 'Name', exact: true }).click();
    await story.page.getByText('Must be an http or https URL').waitFor();
    await story.page.getByLabel('Base URL').fill(story.site.provider.baseUrl);
    await story.page.getByLabel('Provider API key').fill('sk-upstream');
    await story.button('Add provider').last().click();
    await story.page.getByRole('dialog', { name: 'Simulated' }).waitFor();
    await story.button('Test connection').click();
    await story.page.getByText('Connected in').waitFor();
    await story.inspect('provider');
    for (const model of ['sim-chat', 'sim-chat-b', 'sim-multi'])
      await story.page.getByRole('checkbox', { name: model, exact: true }).check();
    await story.button('Create 3 endpoints').click();
    await story.page.getByText('3 endpoints created').waitFor();
    await story.page.keyboard.press('Escape');
    await story.page
      .getByRole('row', { name: /Simulated/ })
      .getByText('Stored')
      .waitFor();
  });

  it('a credential that the provider does not take is told apart from an address that is wrong', async () => {
    const broken = await story.site.admin.create('/api/relay/providers', {
      name: 'Broken',
      base_url: `${story.site.provider.baseUrl.replace(/\/v1$/, '')}`,
    });
    await story.site.admin.create('/api/relay/credentials', {
      provider_id: broken.id,
      name: 'primary',
      secret: 'sk-upstream',
    });
    await story.page.goto(`/console/providers?open=${broken.id}`);
    await story.button('Test connection').click();
    await story.page.getByText('/v1').last().waitFor();
    await story.page.getByText('failed').first().waitFor();
    await story.button('More actions').first().click();
    await story.page.getByRole('menuitem', { name: 'Delete' }).click();
    await story.button('Delete provider').click();
    await story.page.getByText('Provider Broken deleted').waitFor();
  });

  it('an endpoint has a price, and a test that is billed', async () => {
    await story.toPage('Endpoints');
    await story.button('sim-chat').first().click();
    await story.button('Set price').click();
    await story.page.getByLabel(/^Input/).fill('0.4');
    await story.page.getByLabel(/^Output/).fill('1.60');
    await story.button('Save changes').click();
    await story.page.getByText('$0.40 / 1M tokens').waitFor();
    await story.button('Test connection').click();
    await story.page.getByText('Connected in').waitFor();
    await story.inspect('endpoint');
    await story.page.keyboard.press('Escape');
  });

  it('a lane is created, reordered by mouse, by keyboard and by buttons, and saved with its difference', async () => {
    await story.toPage('Lanes');
    await story.button('Create lane').first().click();
    await story.page.getByRole('textbox', { name: 'Name', exact: true }).fill('Assistant');
    for (const model of ['sim-chat', 'sim-chat-b', 'sim-multi'])
      await story.page.getByRole('checkbox', { name: model, exact: true }).check();
    await story.button('Create lane').last().click();
    await story.page.getByRole('heading', { name: 'Assistant', level: 1 }).waitFor();
    await story.inspect('lane');
    assert.deepEqual(await membersShown(), ['sim-chat', 'sim-chat-b', 'sim-multi']);

    for (const model of ['sim-chat', 'sim-multi']) await story.button(`Remove ${model}`).click();
    await story.button('Add endpoint').click();
    const choice = (name: RegExp) =>
      story.page.getByRole('dialog', { name: 'Add endpoint' }).getByRole('button', { name });
    await choice(/^sim-chat.*Simulated.*Idle.*\$0\.40 input · \$1\.60 output \/ 1M tokens$/).waitFor();
    await story.inspect('lane, adding an endpoint');
    await choice(/^sim-multi.*Simulated.*No price$/).click();
    assert.deepEqual(await membersShown(), ['sim-chat-b', 'sim-multi']);
    // An endpoint that is not saved yet has the same facts as the others; without traffic there is nothing to share.
    const added = story.page.getByRole('row', { name: /Drag sim-multi/ });
    await added.getByText('sim-multi · Simulated').waitFor();
    for (const name of ['Idle', '0 in flight in total', 'No price'])
      await added.getByRole('cell', { name, exact: true }).waitFor();
    assert.equal(await story.page.getByText('Traffic share').count(), 0);
    await story.button('Discard changes').click();

    await story.button('Move sim-multi up').click();
    assert.deepEqual(await membersShown(), ['sim-chat', 'sim-multi', 'sim-chat-b']);

    const from = await story.button('Drag sim-chat-b').boundingBox();
    const to = await story.button('Drag sim-chat').first().boundingBox();
    assert.ok(from !== null && to !== null);
    await story.page.mouse.move(from.x + 8, from.y + 8);
    await story.page.mouse.down();
    await story.page.mouse.move(from.x + 8, from.y - 20, { steps: 5 });
    await story.page.mouse.move(to.x + 8, to.y + 2, { steps: 15 });
    await story.page.mouse.up();
    await memberAt(0, 'sim-chat-b').waitFor();
    assert.deepEqual(await membersShown(), ['sim-chat-b', 'sim-chat', 'sim-multi']);

    await story.button('Drag sim-multi').focus();
    await story.page.keyboard.press('Space');
    // The library measures the list before it handles arrow keys.
    await story.page.getByText('sim-multi is now rank 3 of 3.').first().waitFor({ state: 'attached' });
    await story.page.waitForTimeout(100);
    await story.page.keyboard.press('ArrowUp');
    await story.page.getByText('sim-multi is now rank 2 of 3.').first().waitFor({ state: 'attached' });
    await story.page.keyboard.press('Space');
    await memberAt(1, 'sim-multi').waitFor();

    await story.page.getByLabel('Milliseconds', { exact: true }).fill('2500');
    await story.page.getByRole('combobox', { name: 'Priority' }).selectOption('interactive');
    await story.button('Review changes').click();
    await story.page.getByText('Move sim-chat-b from rank 2 to 1').waitFor();
    await story.inspect('lane, saving');
    await story.button('Save changes').click();
    await story.page.getByText('Lane Assistant saved').waitFor();
    await story.page.reload();
    await story.page.getByText('2.5 s').first().waitFor();
    assert.equal(await story.page.getByRole('combobox', { name: 'Priority' }).inputValue(), 'interactive');
    assert.deepEqual(await membersShown(), ['sim-chat-b', 'sim-multi', 'sim-chat']);
  });

  it('a lane that was changed elsewhere is not overwritten: the conflict is told, and the stored lane loaded', async () => {
    const { admin } = story.site;
    const [, laneId = ''] = /lanes\/([^/?]+)/.exec(story.page.url()) ?? [];
    const path = `/api/relay/routing-lanes/${laneId}`;
    const { body } = await admin.call('GET', path);
    await story.page.getByLabel('Milliseconds', { exact: true }).fill('4000');
    await story.button('Move sim-chat up').click();
    const [first, ...rest] = (body as { members: { endpoint_id: string }[] }).members;
    const members = [...rest, first].map((member) => ({ endpoint_id: member?.endpoint_id }));
    await admin.call('PUT', path, { ...(body as object), members });
    await story.button('Review changes').click();
    await story.button('Save changes').click();
    await story.page.getByText('This lane changed elsewhere').waitFor();
    await story.inspect('lane, conflict');
    await story.button('Load stored lane').click();
    await memberAt(0, 'sim-multi').waitFor();
    assert.deepEqual(await membersShown(), ['sim-multi', 'sim-chat', 'sim-chat-b']);
    await story.button('Move sim-chat-b up').click();
    await story.button('Move sim-chat-b up').click();
    await story.button('Review changes').click();
    await story.button('Save changes').click();
    await story.page.getByText('Lane Assistant saved').first().waitFor();
    assert.deepEqual(await membersShown(), ['sim-chat-b', 'sim-multi', 'sim-chat']);
  });

  const memberAt = (place: number, name: string) =>
    story.page
      .getByRole('row')
      .filter({ has: story.page.getByRole('button', { name: /^Drag / }) })
      .nth(place)
      .getByRole('button', { name: `Drag ${name}`, exact: true });
  const membersShown = async () => {
    const handles = await story.page.getByRole('button', { name: /^Drag / }).all();
    const labels = await Promise.all(handles.map((handle) => handle.getAttribute('aria-label')));
    return labels.map((label) => label?.replace('Drag ', ''));
  };

  it('the lane explains what would happen to a request without sending it', async () => {
    const before = story.site.provider.counts().requests;
    await story.button('Explain routing').click();
    await story.page.getByText('Relay would send it to sim-chat-b immediately.').waitFor();
    assert.equal(story.site.provider.counts().requests, before);
  });

  it('the playground streams a first answer and shows what Relay decided', async () => {
    await story.toPage('Playground');
    await story.page.getByLabel('Message', { exact: true }).fill('Hello');
    await story.page.keyboard.press('Enter');
    await story.page.getByText('Input / output tokens').waitFor();
    await story.page.getByRole('definition').getByText('sim-chat-b').first().waitFor();
    await story.inspect('playground');
    await story.button('View code').click();
    await story.page.getByRole('tab', { name: 'LangChain' }).click();
    await story.page.getByText('ChatOpenAI').first().waitFor();
    await story.inspect('playground, code');
    await story.page.keyboard.press('Escape');
  });

  it('a refusal by a limit names the policy and counts down', async () => {
    const lanes = (await story.site.admin.call('GET', '/api/relay/routing-lanes')).body as { id: string }[];
    const policy = await story.site.admin.create('/api/relay/limit-policies', {
      scope_type: 'lane',
      scope_id: lanes[0]?.id,
      metric: 'requests',
      period: 'minute',
      limit_value: 1,
    });
    await story.button('Clear conversation').click();
    const refusal = story.page.getByText('1 request per minute on lane "');
    // Gateways learn of the policy within a second; until then a request passes.
    for (let attempt = 0; attempt < 10 && !(await refusal.isVisible()); attempt += 1) {
      await story.page.getByLabel('Message', { exact: true }).fill('Hello again');
      await story.button('Send request').click();
      await story.button('Send request').waitFor();
    }
    await refusal.waitFor();
    const timer = story.page.getByRole('timer');
    const first = await timer.textContent();
    await timer.filter({ hasNotText: first ?? '' }).waitFor();
    assert.equal(await story.button('Retry request').isDisabled(), true);
    await story.inspect('playground, refused');
    await story.site.admin.call('DELETE', `/api/relay/limit-policies/${policy.id}`);
  });

  it('a key is shown once, cannot be closed away unsaved, works, and stops when revoked', async () => {
    await story.toPage('API keys');
    await story.button('Create key').first().click();
    await story.page.getByRole('textbox', { name: 'Name', exact: true }).fill('Support bot');
    await story.inspect('keys, creating');
    await story.button('Create key').last().click();
    const secret = (await story.page.getByTestId('new-key').textContent()) ?? '';
    assert.match(secret, /^rly_/);
    await story.page.keyboard.press('Escape');
    assert.equal(await story.page.getByTestId('new-key').isVisible(), true);
    assert.equal(await story.button('Done').isDisabled(), true);
    await story.inspect('keys, shown once');
    await story.page.getByLabel('I saved this key').check();
    await story.button('Done').click();
    await story.page.getByTestId('new-key').waitFor({ state: 'detached' });
    assert.doesNotMatch(await story.page.content(), new RegExp(secret.slice(14)));
    const models = () =>
      fetch(`${story.site.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
    assert.equal((await models()).status, 200);
    await story.inspect('keys');
    await story.button('More actions: Support bot').click();
    await story.page.getByRole('menuitem', { name: 'Rename' }).click();
    await story.page.getByRole('textbox', { name: 'Name', exact: true }).fill('Help desk');
    await story.button('Save changes').click();
    await story.button('More actions: Help desk').click();
    await story.page.getByRole('menuitem', { name: 'Revoke' }).click();
    await story.button('Revoke key').click();
    await story.page.getByText('Key Help desk revoked').waitFor();
    assert.equal((await models()).status, 401);
    await story.page.getByText('No results match these filters.').waitFor();
  });

  it('the playground compares only what can answer: no embeddings lane for a chat', async () => {
    const baseUrl = story.site.provider.baseUrl;
    const endpoint = { route_kind: 'embeddings' };
    await createLane(story.site.admin, {
      name: 'A vector lane',
      endpoints: [{ baseUrl, upstreamModel: 'sim-embed', endpoint }],
    });
    await story.page.goto('/console/playground');
    const models = story.page.getByLabel('Model or lane');
    await story.button('Compare models').click();
    await models.nth(1).waitFor();
    const offered = await models.nth(1).locator('option').allTextContents();
    assert.ok(offered.includes('assistant') && !offered.includes('a-vector-lane'), offered.join(' '));
    assert.notEqual(await models.nth(1).inputValue(), await models.nth(0).inputValue());
    await story.page.getByLabel('Operation').selectOption('Embeddings');
    assert.ok((await models.nth(0).locator('option').allTextContents()).includes('a-vector-lane'));
    await story.inspect('playground, comparing');
  });

  it('the palette goes anywhere by name, with the keyboard alone', async () => {
    await accountsOverApi(story.site).addMember('', { role: 'viewer', name: 'Grace Hopper' });
    await story.page.keyboard.press('Control+k');
    await story.page.getByPlaceholder(/Search pages/).fill('assist');
    await story.page.getByRole('option', { name: 'Assistant' }).waitFor();
    await story.inspect('palette');
    await story.page.keyboard.press('Enter');
    await story.page.getByRole('heading', { name: 'Assistant', level: 1 }).waitFor();
    await story.page.keyboard.press('Control+k');
    await story.page.getByPlaceholder(/Search pages/).fill('grace');
    await story.page.getByRole('option', { name: /^Grace Hopper/ }).click();
    await story.page.getByRole('heading', { name: 'Members', level: 1 }).waitFor();
  });

  it('the palette does what the caller may do, knows other words for pages, and says that there is nothing', async () => {
    const { page } = story;
    const type = async (query: string) => {
      await page.keyboard.press('Control+k');
      await page.getByPlaceholder(/Search pages/).fill(query);
    };
    await type('spend');
    for (const name of ['Usage', 'Showback', 'Billing'])
      await page.getByRole('option', { name, exact: true }).waitFor();
    await page.getByPlaceholder(/Search pages/).fill('no such thing');
    await page.getByText('No results for “no such thing”.').waitFor();
    await story.inspect('palette, no results');
    await page.getByPlaceholder(/Search pages/).fill('dark');
    await page.getByRole('option', { name: 'Switch to dark theme' }).click();
    assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
    await type('light theme');
    await page.getByRole('option', { name: 'Switch to light theme' }).click();
    // The same on the page itself and from elsewhere.
    for (let round = 0; round < 2; round += 1) {
      await type('create key');
      await page.getByRole('option', { name: 'Create key' }).click();
      await page.getByRole('dialog', { name: 'Create key' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog', { name: 'Create key' }).waitFor({ state: 'detached' });
    }
    await page.reload();
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
    assert.equal(await page.getByRole('dialog').count(), 0);
  });

  it('an address without a page says so, and keeps the navigation', async () => {
    await story.page.goto('/console/nowhere');
    await story.page.getByText('There is no page at /console/nowhere.').waitFor();
    await story.inspect('not found');
    await story.button('Search Relay').click();
    await story.page.getByPlaceholder(/Search pages/).waitFor();
    await story.page.keyboard.press('Escape');
    await story.toPage('Requests');
  });

  it('nothing on the way hurt accessibility, the policy of the page, or the browser', () =>
    story.assertNothingFound());
});
