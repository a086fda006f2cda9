import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { createLane } from '../harness/admin-client.ts';
import { openStory } from './open-story.ts';
import { signInWithToken } from './sign-in.ts';

const CENT_MICROS = 10_000;
const LEDGER_MS_MAX = 30_000;

/** A team gets a budget, a key in it gets a label, and its spend is in Showback. */
describe('teams and showback', () => {
  let secret = '';
  const story = openStory(async (site) => {
    const { endpointIds } = await createLane(site.admin, {
      name: 'Assistant',
      endpoints: [{ baseUrl: site.provider.baseUrl, upstreamModel: 'sim-chat' }],
    });
    await site.admin.create('/api/relay/pricing-policies', {
      endpoint_id: endpointIds[0],
      input_cost_micros_per_1m_tokens: 0,
      output_cost_micros_per_1m_tokens: 0,
      flat_request_cost_micros: CENT_MICROS,
    });
  });
  before(() => signInWithToken(story.page, story.site.adminToken));

  const opened = () => story.page.getByRole('dialog').last();
  const rowOf = (name: RegExp) => story.page.getByRole('row', { name });

  it('a team is created below another', async () => {
    await story.toPage('Teams');
    await story.page.getByText('No teams yet.').waitFor();
    await story.inspect('teams, empty');
    await story.button('Create team').first().click();
    await opened().getByLabel('Name').fill('Company');
    await opened().getByRole('button', { name: 'Create team' }).click();
    await rowOf(/Company/).waitFor();
    await story.button('Create team').first().click();
    await opened().getByLabel('Name').fill('Search');
    await opened().getByLabel('Parent team').selectOption({ label: 'Company' });
    await opened().getByRole('button', { name: 'Create team' }).click();
    await rowOf(/Search.*Company/).waitFor();
    await story.inspect('teams');
  });

  it('it gets a weekly budget', async () => {
    await story.toPage('Limits');
    await story.button('Create limit').first().click();
    await opened().getByLabel('Kind').selectOption({ label: 'Team limit' });
    await opened().getByLabel('Team', { exact: true }).selectOption({ label: 'Search' });
    await opened().getByLabel('Window').selectOption({ label: 'Week' });
    await opened()
      .getByLabel(/^Limit/)
      .fill('5');
    await opened().getByText('exceed $5.00 in any UTC week for team Search').waitFor();
    await story.inspect('limits, budget of a team');
    await opened().getByRole('button', { name: 'Create limit' }).click();
    await rowOf(/\$5\.00 per week.*Team/).waitFor();
  });

  it('a key in it gets a label', async () => {
    await story.toPage('API keys');
    await story.button('Create key').first().click();
    await opened().getByLabel('Name').fill('Searcher');
    await opened().getByLabel('Team', { exact: true }).selectOption({ label: 'Search' });
    await opened().getByText('More options').click();
    await opened().getByLabel('Labels').fill('app=search, env=prod');
    await opened().getByRole('button', { name: 'Create key' }).click();
    await opened().getByText('Key Searcher is ready').waitFor();
    const listed = await story.site.admin.call('GET', '/api/account/api-keys');
    const [key] = (listed.body as { api_keys: { labels: object; team_id: string | null }[] }).api_keys;
    assert.deepEqual(key?.labels, { app: 'search', env: 'prod' });
    assert.notEqual(key?.team_id, null);
    secret = (await story.page.getByTestId('new-key').textContent()) ?? '';
    await opened().getByLabel('I saved this key').check();
    await opened().getByRole('button', { name: 'Done' }).click();
  });

  it('its spend is in Showback, by team and by label', async () => {
    const response = await fetch(`${story.site.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'assistant', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    assert.equal(response.status, 200);
    const deadlineMs = performance.now() + LEDGER_MS_MAX;
    for (;;) {
      const { body } = await story.site.admin.call('GET', '/api/relay/stats/showback');
      if ((body as { total: { requests: number } }).total.requests > 0) break;
      assert.ok(performance.now() < deadlineMs, 'the request is not in the ledger');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await story.toPage('Showback');
    await rowOf(/Search.*\$0\.01/).waitFor();
    await story.inspect('showback');
    await story.page.goto(`${story.site.url}/console/showback?by=label&label=app`);
    await rowOf(/search.*\$0\.01/).waitFor();
    const download = story.page.waitForEvent('download');
    await story.button('Download FOCUS CSV').click();
    assert.equal((await download).suggestedFilename(), 'showback-focus.csv');
  });

  it('is shown with nothing that broke', () => story.assertNothingFound());
});
