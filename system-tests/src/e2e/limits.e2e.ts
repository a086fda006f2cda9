import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { createLane } from '../harness/admin-client.ts';
import { openStory } from './open-story.ts';
import { addMember, PASSWORD } from './people.ts';
import { signInWithPassword, signInWithToken } from './sign-in.ts';

const CENT_MICROS = 10_000;

interface Answer {
  readonly error?: { readonly code: string; readonly policy?: { readonly id: string } };
}

/** Limits of all three kinds: set, burnt down by real requests, raised, switched off, deleted. */
describe('limits', () => {
  let secret = '';
  let budgetId = '';
  const story = openStory(async (site) => {
    const { endpointIds } = await createLane(site.admin, {
      name: 'Assistant',
      endpoints: [{ baseUrl: site.provider.baseUrl, upstreamModel: 'sim-chat' }],
    });
    // Each request costs one cent.
    await site.admin.create('/api/relay/pricing-policies', {
      endpoint_id: endpointIds[0],
      input_cost_micros_per_1m_tokens: 0,
      output_cost_micros_per_1m_tokens: 0,
      flat_request_cost_micros: CENT_MICROS,
    });
    const key = await site.admin.create('/api/account/api-keys', {
      name: 'Support bot',
      scopes: ['relay:request'],
    });
    secret = String(key['api_key']);
  });
  before(() => signInWithToken(story.page, story.site.adminToken));

  const rowOf = (name: RegExp, page: Page = story.page): Locator => page.getByRole('row', { name });
  const field = (label: string | RegExp) =>
    story.page.getByRole('dialog').last().getByLabel(label, { exact: true });
  /** What the navigation says on every page. */
  const rejecting = () => story.page.getByText('A limit rejects requests', { exact: true });
  const opened = () => story.page.getByRole('dialog').last();
  const choose = async (action: string) => {
    await story.button('More actions').click();
    await story.page.getByRole('menuitem', { name: action }).click();
  };

  async function ask() {
    const response = await fetch(`${story.site.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'assistant', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    return { status: response.status, body: (await response.json()) as Answer };
  }

  /** A change is known to every gateway within a second. */
  async function askUntil(status: number) {
    for (let attempt = 0; attempt < 100; attempt += 1) {
      const answer = await ask();
      if (answer.status === status) return answer;
    }
    throw new Error(`no request was answered with ${status}`);
  }

  it('without any limit the page says so, and what a limit means', async () => {
    await story.toPage('Limits');
    await story.page.getByText('No limits yet.').waitFor();
    for (const sentence of [
      'Enforced before dispatch',
      'Hours, days, weeks and months in UTC',
      'Spend is not your invoice',
    ])
      await story.page.getByText(sentence).waitFor();
    await story.inspect('limits, empty');
  });

  it('a shared limit is set on a lane by its name, and says beforehand what it will do', async () => {
    await story.button('Create limit').first().click();
    await field('Applies to').selectOption({ label: 'Lane' });
    await story.button('Create limit').last().click();
    await opened().getByText('Is required.').waitFor();
    await field('Lane').selectOption({ label: 'Assistant' });
    await field(/^Limit/).fill('100');
    await opened()
      .getByText('Relay delays or rejects the 101st request in any minute on lane Assistant.')
      .waitFor();
    await story.inspect('limits, creating');
    await story.button('Create limit').last().click();
    await rowOf(/100 requests per minute.*Shared limit.*Lane Assistant/).waitFor();
  });

  it('a member and a key get budgets in dollars', async () => {
    await story.button('Create limit').first().click();
    await field('Kind').selectOption({ label: 'Member limit' });
    await field('Member').selectOption({ index: 1 });
    await field(/^Limit/).fill('ten');
    await story.button('Create limit').last().click();
    await opened().getByText('Enter an amount in dollars').waitFor();
    await field(/^Limit/).fill('12.50');
    await story.button('Create limit').last().click();
    await rowOf(/\$12\.50 per day.*Member limit/).waitFor();

    await story.button('Create limit').first().click();
    await field('Kind').selectOption({ label: 'Key limit' });
    await field('Key').selectOption({ index: 1 });
    await field('Window').selectOption({ label: 'Month' });
    await field(/^Limit/).fill('0.05');
    await opened().getByText('exceed $0.05 in any UTC month for key Support bot').waitFor();
    await story.button('Create limit').last().click();
    await rowOf(/\$0\.05 per month.*Key Support bot/).waitFor();
  });

  it('a budget burns down before one’s eyes, up to a refusal that names it', async () => {
    const budget = rowOf(/Key Support bot/);
    await budget.getByRole('button').click();
    await opened()
      .getByRole('heading', { name: /for key Support bot/ })
      .waitFor();
    budgetId = new URL(story.page.url()).searchParams.get('open') ?? '';
    await opened().getByText('No usage in this window yet.').waitFor();
    await askUntil(200);
    await opened().getByText('At this rate').first().waitFor();
    await opened()
      .getByRole('region', { name: /^Left at the end of each day/ })
      .waitFor();
    await story.inspect('limit');
    const refused = await askUntil(429);
    assert.equal(refused.body.error?.code, 'budget_exhausted');
    assert.equal(refused.body.error?.policy?.id, budgetId);
    await opened()
      .getByText(/^Limit reached\. Resets at /)
      .waitFor();
    await story.page.keyboard.press('Escape');
    await budget.getByText('Reached').waitFor();
    await budget.getByText('100%').waitFor();
    await budget.getByText('$0.05 used').waitFor();
    await budget.getByText('$0.00 left').waitFor();
    // The one with the least left is on top.
    assert.match((await story.page.getByRole('row').nth(1).textContent()) ?? '', /Support bot/);
    await story.inspect('limits');
    await story.page.reload();
    await rejecting().waitFor({ state: 'attached' });
  });

  it('raised, it has room again, and requests go through', async () => {
    const budget = rowOf(/Key Support bot/);
    await budget.getByRole('button', { name: /^Raise limit: \$0\.05 per month/ }).click();
    await story.page.getByText('target and metric can’t change').waitFor();
    await story.page.keyboard.press('Escape');
    await budget.getByRole('button', { name: /^\$0\.05 per month/ }).click();
    await opened()
      .getByText(/^This limit caused (the latest rejection|\d+ of the latest \d+ rejections)\.$/)
      .waitFor();
    await story.inspect('limit, exhausted');
    await opened().getByText('Last changed').waitFor();
    assert.match(
      (await opened().getByRole('link', { name: 'View changes' }).getAttribute('href')) ?? '',
      new RegExp(`target=${budgetId}`),
    );
    await story.button('Raise limit').last().click();
    await story.page.getByText('target and metric can’t change').waitFor();
    const focused = await story.page.evaluate('document.activeElement?.id');
    assert.equal(focused, await field(/^Limit/).getAttribute('id'));
    await field(/^Limit/).fill('0.50');
    await opened()
      .getByText(/At this rate, (not )?reached .* The current limit is already reached\.|The forecast starts/)
      .first()
      .waitFor();
    await story.button('Save changes').click();
    await opened()
      .getByRole('heading', { name: /^\$0\.50 per month/ })
      .waitFor();
    await rejecting().waitFor({ state: 'detached' });
    await askUntil(200);
    await opened()
      .getByText(/^(At this rate|Limit reached)/)
      .first()
      .waitFor();
  });

  it('switched off it counts nothing, and says so', async () => {
    await choose('Disable');
    await opened().getByText('Disabled. Relay doesn’t track or enforce it.').waitFor();
    await story.page.keyboard.press('Escape');
    await rowOf(/Key Support bot/)
      .getByText('Disabled')
      .waitFor();
  });

  it('of a lane, those in its way are shown, and which of them bites first', async () => {
    await story.page.getByLabel('Applies to').selectOption({ label: 'Applies to Assistant' });
    await story.page
      .getByRole('status')
      .getByText(/^2 limits apply to Assistant\. Tightest: /)
      .waitFor();
    await story.page.getByText('Tightest', { exact: true }).waitFor();
    await story.page.getByLabel('Kind').selectOption({ label: 'Member limits' });
    await rowOf(/Shared limit/).waitFor({ state: 'detached' });
    assert.match(story.page.url(), /kind=user/);
    assert.match(story.page.url(), /lane=/);
    await story.page.getByLabel('Search limits').fill('nothing like it');
    await story.button('Clear filters').click();
    await rowOf(/Shared limit/).waitFor();
    assert.equal(new URL(story.page.url()).search, '');
  });

  it('a viewer sees all of it and no control that writes', async () => {
    const viewer = await addMember(story.site, 'viewer');
    const theirs = await story.open('dark', 390);
    await signInWithPassword(theirs, viewer, PASSWORD);
    await theirs.goto('/console/limits');
    const shared = rowOf(/100 requests per minute/, theirs);
    await shared.waitFor();
    assert.equal(await theirs.getByRole('button', { name: 'Create limit' }).count(), 0);
    await shared.getByRole('button').click();
    await theirs.getByRole('dialog').getByText('Relay delays or rejects the 101st request').waitFor();
    assert.equal(await theirs.getByRole('button', { name: 'More actions' }).count(), 0);
    await story.inspect('limit, viewer', theirs);
    await theirs.context().close();
  });

  it('deleted, it is gone, and the others stand', async () => {
    await rowOf(/Key Support bot/)
      .getByRole('button')
      .click();
    await choose('Delete');
    await story.button('Delete limit').click();
    await story.page.getByText('Limit deleted').waitFor();
    await rowOf(/Key Support bot/).waitFor({ state: 'detached' });
    await rowOf(/\$12\.50 per day/).waitFor();
  });

  it('what the file or the endpoint owns is shown, and changed there', async () => {
    const limit = { scope_type: 'global', metric: 'tokens', period: 'day', limit_value: 2_000_000 };
    const config = { version: 1, limit_policies: [limit] };
    const applied = await story.site.admin.call('POST', '/api/relay/config/apply', { config });
    assert.equal(applied.status, 200);
    const { body } = await story.site.admin.call('GET', '/api/relay/endpoints');
    const [endpoint] = body as { id: string }[];
    await story.site.admin.call('PUT', `/api/relay/endpoints/${endpoint?.id}`, { max_concurrency: 4 });
    await story.page.reload();
    const ofFile = rowOf(/2M tokens per day/);
    await ofFile.getByText('Managed by file').waitFor();
    await ofFile.getByRole('button').click();
    // What was used today before the limit was made counts.
    await opened().getByText('At this rate').first().waitFor();
    assert.equal(await story.button('More actions').count(), 0);
    await story.page.keyboard.press('Escape');
    await rowOf(/4 concurrent requests.*Endpoint concurrency/)
      .getByRole('button')
      .click();
    await opened().getByText('doesn’t record concurrency over time').waitFor();
    await opened().getByRole('link', { name: 'Open endpoint' }).click();
    await story.page.waitForURL(`**/console/endpoints?open=${endpoint?.id}`);
  });

  it('while the live state cannot be read, the limits are shown without it, and why', async () => {
    const message = 'Limit state is unavailable. Retry shortly.';
    // A status without an immediate retry, which would only delay the message.
    const refusal = { status: 409, json: { error: { code: 'policy_unavailable', message } } };
    await story.page.route('**/api/relay/limits/usage?*', (route) => route.fulfill(refusal));
    await story.page.goto('/console/limits');
    await story.page.getByText(message).waitFor();
    await rowOf(/100 requests per minute/).waitFor();
    await story.inspect('limits, without live state');
    await story.page.unroute('**/api/relay/limits/usage?*');
    await story.page.getByText(message).waitFor({ state: 'detached' });
  });

  it('nothing on the way hurt accessibility, the policy of the page, or the browser', () =>
    story.assertNothingFound());
});
