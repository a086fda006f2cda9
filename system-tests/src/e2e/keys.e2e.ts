import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { createLane } from '../harness/admin-client.ts';
import { until } from '../harness/until.ts';
import { type HeldRequests, holdRequests } from './held-requests.ts';
import { openStory } from './open-story.ts';
import { signInWithToken } from './sign-in.ts';

/** The operator of a deployment without accounts gives applications their keys, and sees their first requests. */
describe('keys without accounts', () => {
  let held: HeldRequests;
  // Before the deployment stops: it would wait for them.
  after(() => held?.end());
  const story = openStory(
    async (site) => {
      const { admin, provider } = site;
      held = holdRequests(site);
      // The first by name; it can't answer a chat, so test requests don't go there.
      await createLane(admin, {
        name: 'A vector lane',
        endpoints: [
          { baseUrl: provider.baseUrl, upstreamModel: 'sim-embed', endpoint: { route_kind: 'embeddings' } },
        ],
      });
      await createLane(admin, {
        name: 'Assistant',
        lane: { default_max_wait_ms: 60_000 },
        endpoints: [
          { baseUrl: provider.baseUrl, upstreamModel: 'sim-chat', endpoint: { max_concurrency: 1 } },
        ],
      });
      const { body } = await admin.call('GET', '/api/relay/endpoints');
      for (const { id } of body as { id: string }[])
        await admin.create('/api/relay/pricing-policies', {
          endpoint_id: id,
          input_cost_micros_per_1m_tokens: 400_000,
          output_cost_micros_per_1m_tokens: 1_600_000,
        });
    },
    { RELAY_ACCOUNTS: 'false', RELAY_AUTH_SECRET: '' },
  );

  let testedSecret = '';

  const dialog = (page: Page = story.page) => page.getByRole('dialog');

  /** Creates a key by keyboard alone, and answers its secret. */
  async function create(name: string, page: Page = story.page): Promise<string> {
    await page.getByRole('button', { name: 'Create key' }).first().click();
    await dialog(page).getByRole('textbox', { name: 'Name', exact: true }).fill(name);
    await page.keyboard.press('Enter');
    await dialog(page)
      .getByRole('heading', { name: `Key ${name} is ready` })
      .waitFor();
    return (await page.getByTestId('new-key').textContent()) ?? '';
  }

  async function close(page: Page = story.page): Promise<void> {
    await page.getByLabel('I saved this key').check();
    await page.getByRole('button', { name: 'Done' }).click();
  }

  const send = (secret: string) =>
    fetch(`${story.site.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'assistant', messages: [{ role: 'user', content: 'Hello' }] }),
    });

  async function isTestedUsed(): Promise<boolean> {
    const { body } = await story.site.admin.call('GET', '/api/account/api-keys');
    const { api_keys: keys } = body as { api_keys: { name: string; first_used_at: string | null }[] };
    return keys.some(({ name, first_used_at: at }) => name === 'Tested' && at !== null);
  }

  it('the checklist asks for a key, and the page is in the navigation', async () => {
    await signInWithToken(story.page, story.site.adminToken);
    await story.page.getByRole('main').getByText('Create an API key').waitFor();
    await story.toPage('API keys');
  });

  it('a name that is missing is reported on submitting, and not when its field is left', async () => {
    const missing = dialog().getByText('Is required.');
    await story.button('Create key').first().click();
    await dialog().getByRole('textbox', { name: 'Name', exact: true }).focus();
    await dialog().getByRole('button', { name: '7 days' }).click();
    await dialog()
      .getByText(/^Expires /)
      .last()
      .waitFor();
    assert.equal(await missing.count(), 0);
    await dialog().getByRole('button', { name: 'Create key' }).click();
    await missing.waitFor();
    await dialog().getByRole('textbox', { name: 'Name', exact: true }).fill('N');
    await missing.waitFor({ state: 'detached' });
    await story.page.keyboard.press('Escape');
  });

  it('a key is created with a budget and an expiry; the rest is behind more options', async () => {
    await story.button('Create key').first().click();
    assert.equal(await dialog().getByRole('checkbox').count(), 0);
    await dialog().getByRole('button', { name: '90 days', pressed: true }).waitFor();
    await dialog().getByRole('textbox', { name: 'Name', exact: true }).fill('Budgeted');
    await dialog().getByLabel('Budget', { exact: true }).fill('many');
    await dialog().getByText('Enter an amount in dollars').waitFor();
    assert.equal(await dialog().getByRole('button', { name: 'Create key' }).isDisabled(), true);
    await dialog().getByLabel('Budget', { exact: true }).fill('20');
    await dialog().getByLabel('Budget period').selectOption('day');
    await dialog().getByRole('button', { name: '7 days' }).click();
    await dialog()
      .getByText(/^Expires /)
      .last()
      .waitFor();
    await story.inspect('keys, creating');
    await dialog().getByText('More options').click();
    await dialog().getByRole('checkbox', { name: 'relay:request' }).waitFor();
    await story.inspect('keys, creating with more options');
    await dialog().getByRole('button', { name: 'Create key' }).click();
    await dialog().getByRole('heading', { name: 'Key Budgeted is ready' }).waitFor();
    await close();
    const row = story.page.getByRole('row', { name: /Budgeted/ });
    await row.getByText('of $20.00 per day').filter({ visible: true }).waitFor();
    await row.getByText(/^in [67] d$/).waitFor();
  });

  it('a key whose budget cannot be created is revoked, and the dialog says why', async () => {
    await story.page.route('**/api/relay/api-key-limit-policies', (route) =>
      route.request().method() === 'POST' ? route.abort() : route.fallback(),
    );
    await story.button('Create key').first().click();
    await dialog().getByRole('textbox', { name: 'Name', exact: true }).fill('Unlimited');
    await dialog().getByLabel('Budget', { exact: true }).fill('20');
    await dialog().getByRole('button', { name: 'Create key' }).click();
    await dialog().getByRole('alert').waitFor();
    await story.page.unroute('**/api/relay/api-key-limit-policies');
    const { body } = await story.site.admin.call('GET', '/api/account/api-keys');
    const { api_keys: keys } = body as { api_keys: { name: string; status: string }[] };
    assert.deepEqual(
      keys.filter(({ name }) => name === 'Unlimited').map(({ status }) => status),
      ['revoked'],
    );
    await story.page.keyboard.press('Escape');
  });

  it('a new key comes with snippets for each client, with its address and a lane', async () => {
    const secret = await create('Support bot');
    assert.match(secret, /^rly_/);
    const tabs = await story.page.getByRole('tab').allTextContents();
    assert.deepEqual(tabs, [
      'curl',
      'OpenAI SDK (JavaScript)',
      'OpenAI SDK (Python)',
      'Claude Code',
      'Codex',
    ]);
    for (const tab of tabs) {
      await story.page.getByRole('tab', { name: tab, exact: true }).click();
      const code = story.page.getByRole('tabpanel').filter({ hasText: secret });
      await code.filter({ hasText: story.site.url }).filter({ hasText: 'assistant' }).waitFor();
    }
    await story.page.getByText('Waiting for the first request').waitFor();
    await story.inspect('keys, snippets');
    assert.equal((await send(secret)).status, 200);
    await dialog()
      .getByText(/^First request completed \(arrived \d\d:\d\d:\d\d UTC\)$/)
      .waitFor();
    await dialog()
      .getByText(/^assistant → sim-chat · .*200 in .* input · .* output tokens · \$0\.0/)
      .waitFor();
    await story.inspect('keys, first request');
    const opening = story.page.waitForEvent('popup');
    await dialog().getByRole('link', { name: 'Open request' }).click();
    const opened = await opening;
    await opened.waitForURL(/requests\/[0-9a-f-]{36}/);
    await opened.close();
    // The key is shown only once, and the dialog still shows it.
    await dialog().getByText(secret).first().waitFor();
    await close();
    await story.page.getByRole('row', { name: /Support bot/ }).waitFor();
    const answer = await fetch(`${story.site.url}/v1/models`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    assert.equal(answer.status, 200);
  });

  it('a first request that a limit holds back waits before the gate, then passes it', async () => {
    held.hold('assistant', 1);
    const secret = await create('Patient');
    const answer = send(secret);
    await dialog().getByText('The first request is waiting for capacity').waitFor();
    await story.inspect('keys, first request waits');
    held.end();
    assert.equal((await answer).status, 200);
    await dialog()
      .getByText(/^First request completed/)
      .waitFor();
    await dialog()
      .getByText(/ · waited /)
      .waitFor();
    await close();
  });

  it('a first request that fails says why', async () => {
    story.site.provider.script({ match: { model: 'sim-chat' }, fault: { status: 401 } });
    const secret = await create('Unlucky');
    const { status } = await send(secret);
    assert.ok(status >= 400);
    await dialog()
      .getByText(/^First request failed/)
      .waitFor();
    await dialog().getByText('Provider rejected the credential', { exact: true }).waitFor();
    await story.inspect('keys, first request failed');
    await close();
  });

  it('on a phone in the dark, a test request needs no terminal, and reduced motion moves nothing', async () => {
    const phone = await story.open('dark', 390);
    await phone.emulateMedia({ reducedMotion: 'reduce' });
    await signInWithToken(phone, story.site.adminToken);
    await phone.goto('/console/keys');
    await create('Phone', phone);
    await story.inspect('keys, phone', phone);
    await phone.getByRole('button', { name: 'Send test request' }).click();
    await phone.getByText(/^First request completed/).waitFor();
    const motion = await phone.evaluate<string[]>(
      '[...document.querySelectorAll("[role=dialog] *")].map((each) => getComputedStyle(each).transitionDuration)',
    );
    assert.deepEqual([...new Set(motion)], ['0s']);
    await close(phone);
    await phone
      .getByRole('row', { name: /Phone/ })
      .getByText(/ · None of its own$/)
      .filter({ visible: true })
      .waitFor();
    await story.inspect('keys, list on a phone', phone);
    await phone.context().close();
    await story.page.reload();
    testedSecret = await create('Tested');
    await story.button('Send test request').click();
    await dialog()
      .getByText(/^First request completed/)
      .waitFor();
    await close();
  });

  it('the list says what each key spent and who needs a decision, and its footer sums it up', async () => {
    // Uses are written in batches.
    assert.ok(await until(isTestedUsed, 20_000), 'the use of a key is not written');
    await story.page.reload();
    await story.page.getByRole('row', { name: /^6 keys/ }).waitFor();
    await story.button(/^Unused for 30 days/).click();
    await story.page.getByRole('row', { name: /^1 key/ }).waitFor();
    await story.page.getByRole('row', { name: /Budgeted/ }).waitFor();
    await story.button(/^Expiring within 30 days/).click();
    assert.match(story.page.url(), /use=ending/);
    await story.page.getByRole('row', { name: /Budgeted/ }).waitFor();
    await story.button(/^All/).click();
    await story.inspect('keys');
  });

  it('a key has a panel with its owner, use, limits and scopes, and its URL opens it again', async () => {
    const { page } = story;
    await story.button('Tested').click();
    const panel = page.getByRole('dialog', { name: 'Tested' });
    const detail = (name: string) =>
      panel
        .locator('div')
        .filter({ has: page.locator('dt', { hasText: name }) })
        .last()
        .locator('dd');
    await panel.getByText('Active').waitFor();
    await panel.getByText(/\(you\)$/).waitFor();
    await panel.getByText('No limits of its own, its owner or its team.').waitFor();
    await panel.getByText('relay:request', { exact: true }).waitFor();
    await panel.getByText('Scopes can’t change.').waitFor();
    assert.match((await detail('Created').textContent()) ?? '', /^\w{3} \d+, \d{4}, \d\d:\d\d UTC$/);
    assert.equal(await detail('Requests').textContent(), '1');
    assert.match((await detail('Spend').textContent()) ?? '', /^\$0\.0/);
    assert.equal(await detail('Failed').textContent(), '0');
    await story.inspect('key');
    assert.match(page.url(), /open=/);
    // The panel polls, and the list behind it follows.
    assert.equal((await send(testedSecret)).status, 200);
    await detail('Requests').filter({ hasText: '2' }).waitFor();
    await page.locator('tr', { hasText: 'Tested' }).locator('td', { hasText: /^2$/ }).waitFor();
    await page.reload();
    await panel.getByRole('link', { name: 'View requests' }).click();
    await page.waitForURL(/requests\?key=/);
    await page.goBack();
    await panel.waitFor();
  });

  it('its limit is added on the page of limits, and the panel shows what is left', async () => {
    const { page } = story;
    await dialog().getByRole('link', { name: 'Add limit' }).click();
    await dialog().getByRole('heading', { name: 'Create limit' }).waitFor();
    await dialog()
      .getByLabel(/^Limit/)
      .fill('5');
    await dialog().getByText('for key Tested').waitFor();
    await dialog().getByRole('button', { name: 'Create limit' }).click();
    await page
      .getByRole('row', { name: /\$5\.00 per day.*Tested/ })
      .getByRole('link', { name: 'Tested' })
      .click();
    const panel = page.getByRole('dialog', { name: 'Tested' });
    await panel.getByText('of $5.00 per day').waitFor();
    await panel.getByText('$5.00 left').waitFor();
    await story.inspect('key with a limit');
  });

  it('the panel renames a key, replaces it, and revokes it', async () => {
    const { page } = story;
    const choose = async (name: string, item: string) => {
      await page.getByRole('dialog', { name }).getByRole('button', { name: /^More/ }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };
    await choose('Tested', 'Rename');
    await page.getByRole('dialog', { name: 'Rename key' }).getByLabel('Name').fill('Retired');
    await story.button('Save changes').click();
    await choose('Retired', 'Rotate');
    await story.button('Rotate key').click();
    await dialog().getByRole('heading', { name: 'Key Retired is ready' }).waitFor();
    await close();
    assert.doesNotMatch(page.url(), /open=/);
    await page.goBack();
    await choose('Retired', 'Revoke');
    await story.button('Revoke key').click();
    const panel = page.getByRole('dialog', { name: 'Retired' });
    await panel.getByText('Revoked').first().waitFor();
    assert.equal(await panel.getByRole('button', { name: /^More/ }).count(), 0);
    await panel.getByRole('button', { name: 'Create key' }).click();
    await dialog().getByRole('heading', { name: 'Create key' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await story.toPage('API keys');
  });

  it('the page polls the limits of keys, not every limit', async () => {
    const asked = story.page.waitForRequest(/limits\/usage/);
    await story.page.reload();
    assert.match((await asked).url(), /policy_kind=api_key/);
  });

  it('the audit log says that the admin token created a key, and links to it', async () => {
    await story.toPage('Audit log');
    await story.page
      .getByRole('row', { name: /Created API key.*Support bot.*Admin token/ })
      .getByRole('link', { name: 'Support bot' })
      .click();
    await story.page.getByRole('dialog', { name: 'Support bot' }).waitFor();
    await story.page.keyboard.press('Escape');
  });

  it('nothing on the way hurt accessibility, the policy of the page, or the browser', () =>
    story.assertNothingFound());
});
