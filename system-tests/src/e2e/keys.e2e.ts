import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLane } from '../harness/admin-client.ts';
import { openStory } from './open-story.ts';
import { signInWithToken } from './sign-in.ts';

/** The operator of a deployment without accounts gives an application its key. */
describe('keys without accounts', () => {
  const story = openStory(
    async ({ admin, provider }) => {
      const endpoints = [{ baseUrl: provider.baseUrl, upstreamModel: 'sim-chat' }];
      await createLane(admin, { name: 'Assistant', endpoints });
    },
    { RELAY_ACCOUNTS: 'false', RELAY_AUTH_SECRET: '' },
  );

  it('the checklist asks for a key, and the page is in the navigation', async () => {
    await signInWithToken(story.page, story.site.adminToken);
    await story.page.getByRole('main').getByText('Create an API key').waitFor();
    await story.toPage('API keys');
  });

  it('a new key comes with snippets for each client, with its address and a lane', async () => {
    await story.button('Create key').first().click();
    await story.page.getByRole('textbox', { name: 'Name', exact: true }).fill('Support bot');
    await story.button('Create key').last().click();
    const secret = (await story.page.getByTestId('new-key').textContent()) ?? '';
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
    const first = await fetch(`${story.site.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'assistant', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    assert.equal(first.status, 200);
    await story.page.getByText('The first request arrived').waitFor();
    await story.page.getByText(/^200 after /).waitFor();
    await story.page.getByRole('dialog').getByRole('checkbox').check();
    await story.button('Done').click();
    await story.page.getByRole('row', { name: /Support bot/ }).waitFor();
    const answer = await fetch(`${story.site.url}/v1/models`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    assert.equal(answer.status, 200);
  });

  it('nothing on the way hurt accessibility, the policy of the page, or the browser', () =>
    story.assertNothingFound());
});
