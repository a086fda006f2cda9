import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { freePort } from '@relay/testbed';
import { createLane } from '../harness/admin-client.ts';
import { until } from '../harness/until.ts';
import { openStory } from './open-story.ts';
import { signInWithToken } from './sign-in.ts';

const DOWN_MS_MAX = 30_000;
const REFUSED = /^Down for .*: connection refused\./;

describe('the health of endpoints', () => {
  const story = openStory(async ({ admin, provider: { baseUrl } }) => {
    const dead = `http://127.0.0.1:${await freePort()}/v1`;
    await createLane(admin, {
      name: 'Assistant',
      endpoints: [
        { baseUrl: dead, upstreamModel: 'sim-chat' },
        { baseUrl, upstreamModel: 'sim-chat-b' },
        { baseUrl, upstreamModel: 'sim-multi' },
      ],
    });
    await createLane(admin, { name: 'Lonely', endpoints: [{ baseUrl: dead, upstreamModel: 'sim-chat' }] });
  });
  before(() => signInWithToken(story.page, story.site.adminToken));

  async function ask(model: string, sim: object = {}): Promise<number> {
    const { url, apiToken } = story.site;
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], sim }),
    });
    await response.arrayBuffer();
    return response.status;
  }

  async function healthOf(name: string): Promise<unknown> {
    const { body } = await story.site.admin.call('GET', '/api/relay/endpoints');
    return (body as { name: string; health: string }[]).find((each) => each.name === name)?.health;
  }

  const row = (name: string) =>
    story.page.getByRole('row').filter({ has: story.page.getByRole('button', { name, exact: true }) });

  it('is idle until requests are sent, which is neither good nor bad', async () => {
    await story.toPage('Endpoints');
    await row('Assistant 1').getByText('Idle').waitFor();
    await row('Assistant 1')
      .getByTitle('Idle: no requests in the last 15 min or since its configuration changed.')
      .getByText('No requests')
      .waitFor();
    for (const name of ['Health, 5 min', 'Errors, 24 h'])
      await story.page.getByRole('columnheader', { name }).waitFor();
    assert.equal(await story.page.getByText('Healthy').count(), 0);
  });

  it('is down with its reason when the provider refuses connections, and clients see nothing of it', async () => {
    const statuses: number[] = [];
    const isDown = await until(async () => {
      statuses.push(await ask('assistant'));
      await ask('lonely');
      return (await healthOf('Assistant 1')) === 'down' && (await healthOf('Lonely 1')) === 'down';
    }, DOWN_MS_MAX);
    assert.ok(isDown, 'the endpoints are down');
    assert.deepEqual(new Set(statuses), new Set([200]));
    // The page reads again every ten seconds.
    await row('Assistant 1').getByText('connection refused').waitFor({ timeout: DOWN_MS_MAX });
    await row('Assistant 1').getByText('Down').waitFor();
    await row('Assistant 2').getByText('Healthy').waitFor();
    await row('Assistant 3').getByText('Idle').waitFor();
    await story.inspect('endpoints, one down');
  });

  it('stands in the panel with the error share and the last error, beside a test that says where it stops', async () => {
    await story.button('Assistant 1').click();
    await story.page.getByText(REFUSED).waitFor();
    await story.page.getByText(/in the last 5 min, (all|1) failed/).waitFor();
    await story.page.getByText('Client errors and requests rejected for capacity don’t count.').waitFor();
    await story.button('Test connection').click();
    await story.page.getByText(/127\.0\.0\.1:\d+ refuses connections/).waitFor();
    await story.page.getByText('Connection failed').waitFor();
    await story.inspect('endpoint, down');
    await story.button('Close').click();
  });

  it('says on a lane where requests go: to the next endpoint, or still to the last one', async () => {
    await story.toPage('Lanes');
    const cell = (name: RegExp) => story.page.getByRole('cell', { name });
    await cell(/Assistant 1: Down for .*Relay sends requests to the next endpoint\.$/).waitFor();
    await cell(/No other endpoint is up, so Relay still sends requests to it\.$/).waitFor();
    await story.inspect('lanes, one endpoint down');
    await story.page.getByRole('link', { name: 'Assistant', exact: true }).click();
    await story.page.getByRole('heading', { name: 'Assistant', level: 1 }).waitFor();
    await cell(/^Down for .*Relay sends requests to the next endpoint\.$/).waitFor();
    await story.button('Explain routing').click();
    await story.page.getByText('Relay would send it to Assistant 2').waitFor();
    await story.page.getByText(/skipped: down for .*, connection refused/i).waitFor();
    await story.inspect('lane, one endpoint skipped');
  });

  it('is on Live, on Home and at the provider', async () => {
    await story.toPage('Live');
    await story.page
      .getByText(/^Down for \d/)
      .first()
      .waitFor();
    await story.inspect('live, endpoints down');
    await story.toPage('Home');
    await story.page.getByText('2 down · 1 idle · 1 healthy').waitFor();
    await story.toPage('Providers');
    await row('Assistant 1').getByText('connection refused').waitFor();
    await story.inspect('providers, one down');
  });

  it('a cause on Home tests its provider, or opens its endpoint for editing', async () => {
    // Home was open before anything failed, and keeps what it read for a minute.
    await story.page.goto('/console/home');
    await story.page.getByRole('link', { name: /^Test provider ?: Lonely 1$/ }).click();
    await story.page.getByRole('dialog', { name: 'Lonely 1' }).waitFor();
    await story.page.getByText(/127\.0\.0\.1:\d+ refuses connections/).waitFor();
    await story.inspect('provider, tested from Home');
    // A reload shows the provider, and tests nothing.
    await story.page.reload();
    await story.button('Test connection').waitFor();
    await story.button('Close').click();
    assert.equal(await ask('assistant', { status: 404 }), 404);
    const isCounted = await until(async () => {
      const { body } = await story.site.admin.call('GET', '/api/relay/stats/failures');
      const { causes } = body as { causes: { error_code: string }[] };
      return causes.some(({ error_code: code }) => code === 'upstream_status_404');
    }, DOWN_MS_MAX);
    assert.ok(isCounted, 'the failure is counted');
    await story.page.goto('/console/home');
    await story.page.getByRole('link', { name: /^Edit endpoint ?: Assistant \d$/ }).click();
    await story.page.getByRole('dialog', { name: 'Edit endpoint' }).waitFor();
    await story.inspect('endpoint, edited from Home');
  });

  it('a cause on Home sets its credential, or raises its limit, in the field that it is about', async () => {
    const { admin } = story.site;
    const dialog = () => story.page.getByRole('dialog').last();
    assert.equal(await ask('assistant', { status: 401 }), 502);
    const lanes = (await admin.call('GET', '/api/relay/routing-lanes')).body as {
      id: string;
      name: string;
    }[];
    const { id: limitId } = await admin.create('/api/relay/limit-policies', {
      scope_type: 'lane',
      scope_id: lanes.find(({ name }) => name === 'Assistant')?.id,
      metric: 'requests',
      period: 'day',
      limit_value: 1,
    });
    const isRejected = await until(async () => (await ask('assistant')) === 429, DOWN_MS_MAX);
    assert.ok(isRejected, 'the limit rejects');
    const isCounted = await until(async () => {
      const { body } = await admin.call('GET', '/api/relay/stats/failures');
      const { causes } = body as { causes: { action: { kind: string } | null }[] };
      const kinds = new Set(causes.map(({ action }) => action?.kind));
      return kinds.has('replace_credential') && kinds.has('raise_limit');
    }, DOWN_MS_MAX);
    assert.ok(isCounted, 'both failures are counted');
    await story.page.goto('/console/home');
    await story.page.getByRole('heading', { name: 'Reached now' }).waitFor();
    await story.page.getByText('Relay is rejecting requests', { exact: true }).waitFor();
    await story.page
      .getByText(/^resets in /)
      .first()
      .waitFor();
    await story.inspect('home, a limit reached');
    await story.page.getByRole('link', { name: /^Set credential ?: Assistant \d$/ }).click();
    await dialog()
      .getByRole('heading', { name: /^(Set|Replace) credential/ })
      .waitFor();
    await dialog()
      .getByText(/Assistant \d/)
      .waitFor();
    await story.page.locator('input[type=password]:focus').waitFor();
    await story.inspect('credential, set from Home');
    await story.page.goto('/console/home');
    await story.page.getByRole('link', { name: /^Raise limit/ }).click();
    await story.page.getByRole('dialog', { name: 'Edit limit' }).waitFor();
    await dialog().locator('input[type=number]:focus').waitFor();
    assert.equal(
      await dialog().getByLabel('Lane', { exact: true }).inputValue(),
      lanes.find(({ name }) => name === 'Assistant')?.id,
    );
    await story.inspect('limit, raised from Home');
    await admin.call('DELETE', `/api/relay/limit-policies/${limitId}`);
  });

  it('nothing on the way hurt accessibility, the policy of the page, or the browser', () =>
    story.assertNothingFound());
});
