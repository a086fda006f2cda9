import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { createLane } from '../harness/admin-client.ts';
import { openStory } from './open-story.ts';
import { signInWithToken } from './sign-in.ts';

const CHANGED_MS_MAX = 30_000;

/** A spend limit cannot count an endpoint without a price, so the endpoint gets no requests until it has one. */
describe('an endpoint without a price under a spend limit', () => {
  let laneId = '';
  const story = openStory(async (site) => {
    const lane = await createLane(site.admin, {
      name: 'Assistant',
      endpoints: [{ baseUrl: site.provider.baseUrl, upstreamModel: 'sim-chat' }],
    });
    laneId = lane.laneId;
    await site.admin.create('/api/relay/limit-policies', {
      scope_type: 'global',
      metric: 'spend',
      period: 'day',
      limit_value: 1_000_000,
    });
  });
  before(() => signInWithToken(story.page, story.site.adminToken));

  async function ask() {
    const response = await fetch(`${story.site.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${story.site.apiToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'assistant', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    return {
      status: response.status,
      body: (await response.json()) as { error?: { code: string; message: string } },
    };
  }

  /** A change is known to every gateway within a second. */
  async function askUntil(status: number) {
    const endMs = performance.now() + CHANGED_MS_MAX;
    for (;;) {
      const answer = await ask();
      if (answer.status === status) return answer;
      assert.ok(
        performance.now() < endMs,
        `no request was answered with ${status}, but with ${answer.status}`,
      );
    }
  }

  it('gets no requests, and the error says what to do', async () => {
    const { body } = await askUntil(400);
    assert.equal(body.error?.code, 'unpriced');
    assert.match(body.error?.message ?? '', /has a price \("Assistant 1"\)\. Set its price/);
  });

  it('gets its price in two clicks where its lane explains why', async () => {
    await story.page.goto(`${story.site.url}/console/lanes/${laneId}`);
    await story.button('Explain routing').click();
    await story.page.getByRole('cell', { name: 'No price', exact: true }).waitFor();
    await story.page.getByRole('listitem').getByText('No price', { exact: true }).waitFor();
    await story.inspect('an endpoint without a price');
    await story.button('Set price').click();
    const dialog = story.page.getByRole('dialog').last();
    await dialog.getByLabel(/^Input/).fill('2.5');
    await dialog.getByLabel(/^Output/).fill('10');
    await dialog.getByRole('button', { name: 'Save changes' }).click();
    // The explanation is renewed with the dialog, and again until the change is known.
    const explained = story.page.getByText(/Relay would send it to Assistant 1/);
    for (let turn = 0; turn < 20 && !(await explained.isVisible()); turn += 1) {
      await story.button('Explain routing').click();
      await explained.waitFor({ timeout: 1_000 }).catch(() => undefined);
    }
    assert.ok(await explained.isVisible());
    await askUntil(200);
  });

  it('is shown with nothing that broke', () => story.assertNothingFound());
});
