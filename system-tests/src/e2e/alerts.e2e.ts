import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { createLane } from '../harness/admin-client.ts';
import { openStory } from './open-story.ts';
import { signInWithToken } from './sign-in.ts';

const LIMIT = 5;

/** Thresholds are set on a limit, requests use it up, and the console shows the alert. */
describe('a limit that runs out', () => {
  const story = openStory(async (site) => {
    await createLane(site.admin, {
      name: 'Assistant',
      endpoints: [{ baseUrl: site.provider.baseUrl, upstreamModel: 'sim-chat' }],
    });
  });
  before(() => signInWithToken(story.page, story.site.adminToken));

  it('gets its thresholds in the form', async () => {
    await story.page.goto(`${story.site.url}/console/limits`);
    await story.button('Create limit').first().click();
    const dialog = story.page.getByRole('dialog');
    await dialog.getByLabel('Window').selectOption('day');
    await dialog.getByLabel(/^Limit/).fill(String(LIMIT));
    await dialog.getByLabel(/^Alert at/).fill('40, 80');
    await story.inspect('thresholds of a limit');
    await dialog.getByRole('button', { name: 'Create limit' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { body } = await story.site.admin.call('GET', '/api/relay/limit-policies');
    assert.deepEqual(
      (body as { alert_at: number[] }[]).map(({ alert_at }) => alert_at),
      [[40, 80]],
    );
  });

  it('is announced on Home and listed among the alerts when requests have used it', async () => {
    for (let count = 1; count < LIMIT; count += 1) {
      const response = await fetch(`${story.site.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${story.site.apiToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'assistant', messages: [{ role: 'user', content: 'Hello' }] }),
      });
      assert.equal(response.status, 200, await response.text());
    }
    await story.page.goto(`${story.site.url}/console/home`);
    await story.page.getByText('1 limit has triggered an alert.').waitFor();
    await story.page.getByRole('link', { name: 'View alerts' }).click();
    await story.page.getByText('80% used').waitFor();
    await story.page.getByText('40% used').waitFor();
    await story.inspect('alerts');
  });

  it('is sent to a destination that is added here', async () => {
    await story.button('Add destination').click();
    const dialog = story.page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Pager');
    await dialog.getByLabel('URL').fill('https://alerts.example.com/relay');
    await dialog.getByRole('button', { name: 'Add destination' }).click();
    const shown = story.page.getByRole('dialog', { name: 'Signing secret' });
    await shown.getByText(/^whsec_/).waitFor();
    await story.inspect('a signing secret');
    await shown.getByLabel('I saved the secret').check();
    await shown.getByRole('button', { name: 'Done' }).click();
    await story.page.getByText('https://alerts.example.com/relay').waitFor();
  });

  it('is shown with nothing that broke', () => story.assertNothingFound());
});
