import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { createLane } from '../harness/admin-client.ts';
import type { Deployment } from '../harness/deployment.ts';
import { until } from '../harness/until.ts';
import { openStory } from './open-story.ts';
import { signInWithToken } from './sign-in.ts';

const SENT = 4;

describe('providers', () => {
  const story = openStory(async (site) => {
    const { admin, provider } = site;
    await createLane(admin, {
      name: 'Assistant',
      endpoints: [
        { baseUrl: provider.baseUrl, upstreamModel: 'sim-chat' },
        { baseUrl: provider.baseUrl, upstreamModel: 'sim-chat-b' },
      ],
    });
    await admin.create('/api/relay/providers', {
      name: 'Keyless',
      base_url: 'https://api.example.com/v1',
      auth_mode: 'bearer_static',
    });
    await send(site, SENT);
    assert.ok(await until(async () => (await counted(site)) === SENT, 30_000), 'requests are not counted');
  });
  before(() => signInWithToken(story.page, story.site.adminToken));

  it('each has its signal, endpoints, traffic, errors and credential; the footer sums them up', async () => {
    await story.toPage('Providers');
    const busy = story.page.getByRole('row', { name: /Assistant 1/ });
    await busy.getByText('Healthy').waitFor();
    await busy.getByText(/^Stored/).waitFor();
    await busy.getByText(String(SENT), { exact: true }).waitFor();
    const keyless = story.page.getByRole('row', { name: /Keyless/ });
    await keyless.getByText('Missing').waitFor();
    await story.page
      .getByRole('row', { name: /^\d providers/ })
      .getByText(String(SENT), { exact: true })
      .waitFor();
    await story.inspect('providers');
  });

  it('one that is down says why, and comes first', async () => {
    story.site.provider.script({ fault: { status: 500 }, persistent: true });
    await send(story.site, 12);
    await story.page.reload();
    const first = story.page.getByRole('row').nth(1);
    // One statement: never that it is idle beside an endpoint that is not healthy.
    assert.equal(await first.getByText('Idle').count(), 0);
    await first
      .getByText(/500|failed/)
      .first()
      .waitFor();
    const name = await first.getByRole('button').first().textContent();
    assert.match(name ?? '', /Assistant/);
    await story.inspect('providers, down');
  });

  it('a credential is replaced in a dialog that names it and its provider, with the field focused', async () => {
    await story.page
      .getByRole('row', { name: /Assistant 2/ })
      .getByRole('button')
      .first()
      .click();
    const panel = story.page.getByRole('dialog', { name: 'Assistant 2' });
    const replaced = story.page.getByRole('dialog', { name: /^Replace credential / });
    const open = async (how: () => Promise<void>) => {
      await how();
      await replaced.getByText('For provider Assistant 2').waitFor();
      const field = replaced.getByLabel('Provider API key');
      await replaced.locator('input[type=password]:focus').waitFor();
      return field;
    };
    await open(async () => {
      await panel.getByRole('button', { name: 'More actions', exact: true }).last().click();
      await story.page.getByRole('menuitem', { name: 'Replace credential' }).click();
    });
    await story.inspect('credential, to replace');
    await story.page.keyboard.press('Escape');
    const field = await open(() =>
      panel.getByRole('button', { name: 'Replace credential', exact: true }).click(),
    );
    await field.fill('sk-another-secret-of-the-provider');
    await replaced.getByRole('button', { name: 'Save changes' }).click();
    await replaced.waitFor({ state: 'detached' });
    // The panel reads again while it is open.
    await story.page.waitForResponse((response) => response.url().includes('/api/relay/credentials'));
    await story.page.keyboard.press('Escape');
  });

  it('a phone in the dark shows names, signals and the footer', async () => {
    const phone = await story.open('dark', 390);
    await signInWithToken(phone, story.site.adminToken);
    await phone.goto('/console/providers');
    await phone.getByRole('row', { name: /Keyless/ }).waitFor();
    await story.inspect('providers, phone', phone);
    await phone.context().close();
  });

  it('nothing on the way hurt accessibility, the policy of the page, or the browser', () =>
    story.assertNothingFound());
});

async function send({ url, apiToken }: Deployment, times: number): Promise<void> {
  for (let sent = 0; sent < times; sent += 1)
    await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'assistant', messages: [{ role: 'user', content: 'Hello' }] }),
    });
}

/** The requests that the ledger has counted so far. */
async function counted({ admin }: Deployment): Promise<number | null | undefined> {
  const { body } = await admin.call('GET', '/api/relay/stats/timeseries?metric=requests');
  return (body as { series: { total: number | null }[] }).series[0]?.total;
}
