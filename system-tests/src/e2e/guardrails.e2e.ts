import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { FORBIDDEN_WORD, type GuardrailSim, startGuardrailSim } from '@relay/provider-sim';
import { createLane } from '../harness/admin-client.ts';
import { until } from '../harness/until.ts';
import { openStory } from './open-story.ts';
import { addMember, PASSWORD } from './people.ts';
import { signInWithPassword, signInWithToken } from './sign-in.ts';

const KEY = 'sk-guard';
const LEDGER_MS_MAX = 30_000;

/** From no guardrail to one that blocks real requests, and back; each step builds on those before it. */
describe('guardrails', () => {
  let sim: GuardrailSim;
  const story = openStory(async ({ admin, provider }) => {
    sim = await startGuardrailSim({ serviceKey: KEY });
    const endpoints = [{ baseUrl: provider.baseUrl, upstreamModel: 'sim-chat' }];
    await createLane(admin, { name: 'Assistant', endpoints });
    await createLane(admin, { name: 'Nightly', endpoints });
  });
  before(() => signInWithToken(story.page, story.site.adminToken));
  after(() => sim?.close());

  async function ask(content: string, stream = false): Promise<number> {
    const response = await fetch(`${story.site.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${story.site.apiToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'assistant', stream, messages: [{ role: 'user', content }] }),
    });
    await response.arrayBuffer();
    return response.status;
  }

  /** Waits until the worker has counted the checks. */
  async function untilCounted(path: string, isCounted: (body: never) => boolean): Promise<void> {
    let body: unknown;
    const isInTime = await until(async () => {
      ({ body } = await story.site.admin.call('GET', path));
      return isCounted(body as never);
    }, LEDGER_MS_MAX);
    assert.ok(isInTime, `${path} did not count it in time: ${JSON.stringify(body)}`);
  }

  const row = () => story.page.getByRole('row', { name: /Moderation/ });

  it('there is none yet, and one sentence says what one would do', async () => {
    await story.toPage('Guardrails');
    await story.page.getByText('No guardrails yet.').waitFor();
    await story.inspect('guardrails, empty');
  });

  it('one is made from a preset, and what is wrong with it is said beside its field', async () => {
    await story.button('Add guardrail').first().click();
    await story.page.getByText('Other service').waitFor();
    await story.inspect('guardrail, choose a preset');
    await story.button(/^OpenAI moderation/).click();
    await story.page.getByRole('textbox', { name: 'Name', exact: true }).fill('Moderation');
    await story.page.getByLabel('URL').fill('not an address');
    await story.page.getByLabel(/^Credential/).fill(KEY);
    await story.page.getByText('Must be an http or https URL').waitFor();
    await story.page.getByLabel('URL').fill(sim.serviceUrlOf('openai'));
    await story.page.getByText('Request and rules').click();
    await story.page.getByLabel(/^Rules \(JSON array\)/).fill('{}');
    await story.inspect('new guardrail');
    await story.button('Add guardrail').last().click();
    await story.page.getByText('Enter a JSON array.').waitFor();
    await story.page.getByLabel(/^Rules \(JSON array\)/).fill('');
    await story.button('Add guardrail').last().click();
    await story.page.getByRole('heading', { level: 1, name: 'Moderation' }).waitFor();
    await story.page.getByText('Disabled').first().waitFor();
    await story.page.getByText('Not bound. No requests are checked.').waitFor();
  });

  it('a sample is allowed, another is blocked, and a wrong credential is told in words', async () => {
    const { page } = story;
    const run = async (sample: string) => {
      await page.getByLabel('Sample text').fill(sample);
      await story.button('Run test').click();
    };
    await run('Which invoices are overdue?');
    await page.getByText('The guardrail allows the text.').waitFor();
    await run(`something ${FORBIDDEN_WORD}`);
    await page.getByText('The guardrail blocks the text.').waitFor();
    await page.getByText('$.results[*].flagged is true').last().waitFor();
    await page.getByText('Response', { exact: true }).last().click();
    await page.getByText('modr-1').waitFor();
    await story.inspect('guardrail, tested');
    await story.button('More actions').click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await page.getByLabel(/^Credential/).fill('sk-wrong');
    await story.button('Save changes').click();
    await page.getByText('Guardrail Moderation saved').waitFor();
    await run('Which invoices are overdue?');
    await page.getByText('it does not accept the credential').waitFor();
    await story.button('More actions').click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await page.getByLabel(/^Credential/).fill(KEY);
    await story.button('Save changes').click();
    await page.getByText('Guardrail Moderation saved').last().waitFor();
  });

  it('before it is bound to a lane, the streams that it would refuse are counted', async () => {
    const { page } = story;
    assert.deepEqual(await Promise.all([ask('one', true), ask('two', true), ask('three')]), [200, 200, 200]);
    await untilCounted('/api/relay/stats/summary', ({ requests }: { requests: number }) => requests === 3);
    await story.button('Edit bindings').click();
    await page.getByLabel('Search by name').fill('nightly');
    assert.equal(await page.getByRole('checkbox', { name: 'Assistant', exact: true }).count(), 0);
    await page.getByLabel('Search by name').fill('');
    await page.getByRole('checkbox', { name: 'Nightly', exact: true }).check();
    await page.getByText('There were none in the last 7 days.').waitFor();
    await page.getByRole('checkbox', { name: 'Nightly', exact: true }).uncheck();
    await page.getByRole('checkbox', { name: 'Assistant', exact: true }).check();
    await page.getByText('2 streaming requests in the last 7 days.').waitFor();
    await page.getByText(/rejects streaming requests with 400 guardrail_streaming_unsupported/).waitFor();
    await story.inspect('guardrail, bindings');
    await story.button('Save bindings').click();
    await page.getByText('Bindings for Moderation saved').waitFor();
    await page.getByText('2 streaming requests in the last 7 days').waitFor();
    assert.equal(await ask(FORBIDDEN_WORD), 200);
  });

  it('enabled, it blocks a real request, and the page shows the verdicts', async () => {
    const { page } = story;
    await story.toPage('Guardrails');
    await row().getByText('Assistant').waitFor();
    await row().getByText('no checks').last().waitFor();
    await row().getByRole('switch').click();
    const dialog = page.getByRole('dialog', { name: 'Enable guardrail Moderation?' });
    await dialog.getByText('2 streaming requests').waitFor();
    await story.inspect('guardrail, enable');
    await dialog.getByRole('button', { name: 'Enable guardrail' }).click();
    await page.getByText('Guardrail Moderation enabled').waitFor();
    assert.deepEqual(
      [await ask('hello'), await ask(`say ${FORBIDDEN_WORD}`), await ask('x', true)],
      [200, 403, 400],
    );
    const isAsked = ({ guardrails }: { guardrails: { blocked: number; allowed: number }[] }) =>
      guardrails[0]?.blocked === 1 && guardrails[0].allowed === 1;
    await untilCounted('/api/relay/guardrail-stats', isAsked);
    await untilCounted('/api/relay/stats/summary', ({ requests }: { requests: number }) => requests === 7);
    // Home was open when nothing had been sent, and keeps what it read for a minute.
    await page.goto('/console/home');
    // The stream that it cannot check failed; what it blocked did not.
    await page.getByText('1 of 7', { exact: true }).waitFor();
    const blocked = page.getByRole('link', { name: '1 blocked by guardrails' });
    assert.match((await blocked.getAttribute('href')) ?? '', /error=content_policy_violation/);
    await story.inspect('home, blocked by a guardrail');
    await story.toPage('Guardrails');
    await page.reload();
    await row().getByText('1 blocked').last().waitFor();
    await story.inspect('guardrails');
    await story.button('Moderation').click();
    await story.button('Table of Verdicts').click();
    await page.getByRole('columnheader', { name: 'Blocked' }).waitFor();
    const counts = page.getByRole('region', { name: 'Verdicts' }).getByRole('row').filter({ hasText: '1' });
    assert.ok((await counts.count()) > 0);
    // The stream that was refused came through here as well.
    await page.getByText('3 streaming requests in the last 7 days').waitFor();
    await story.inspect('guardrail');
  });

  it('what it blocked is a list of requests, what it is bound to a link, and its changes are in the audit log', async () => {
    const { page } = story;
    const guardrail = page.url();
    // Both charts have labels on their value axis, and begin at the same place.
    await story.button('Chart of Verdicts').click();
    await page
      .getByText(/^\d+ ms$/)
      .first()
      .waitFor();
    await page.getByRole('link', { name: '1', exact: true }).click();
    await page.getByText('guardrail verdict: Blocked').waitFor();
    await page.getByText('guardrail: Moderation').waitFor();
    await page.getByText('1 total').waitFor();
    await page.getByText('All requests, whatever their guardrail or guardrail verdict').waitFor();
    await story.inspect('requests, blocked by one guardrail');
    await page.goto(guardrail);
    await page.getByRole('link', { name: 'Assistant', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Assistant' }).waitFor();
    await page.goto(guardrail);
    await story.button('More actions').click();
    await page.getByRole('menuitem', { name: 'View changes' }).click();
    await page.getByRole('row', { name: /Changed guardrail.*Moderation.*Enabled no → yes/ }).waitFor();
    await page.getByRole('row', { name: /Created guardrail/ }).waitFor();
    assert.equal(await page.getByRole('row', { name: /Created lane/ }).count(), 0);
    await page.goto(guardrail);
  });

  it('a viewer sees what it said, and no control that writes', async () => {
    const viewer = await addMember(story.site, 'viewer');
    const theirs = await story.open('dark', 390);
    await signInWithPassword(theirs, viewer, PASSWORD);
    await theirs.goto('/console/guardrails');
    await theirs
      .getByRole('row', { name: /Moderation/ })
      .getByText('Enabled')
      .waitFor();
    assert.equal(await theirs.getByRole('button', { name: 'Add guardrail' }).count(), 0);
    assert.equal(await theirs.getByRole('switch').count(), 0);
    await theirs.getByRole('button', { name: 'Moderation' }).click();
    await theirs.getByText('The first matching rule sets the verdict.').waitFor();
    for (const name of ['Edit bindings', 'Enable', 'Disable', 'More actions', 'Run test'])
      assert.equal(await theirs.getByRole('button', { name, exact: true }).count(), 0, name);
    await story.inspect('guardrail, viewer', theirs);
    await theirs.context().close();
  });

  it('disabled, it is not asked; deleted, it is gone after a confirmation', async () => {
    const { page } = story;
    await story.button('Disable').click();
    await page.getByText('Guardrail Moderation disabled').waitFor();
    assert.equal(await ask(FORBIDDEN_WORD), 200);
    await story.button('More actions').click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page
      .getByRole('dialog', { name: 'Delete guardrail Moderation?' })
      .getByRole('button', { name: 'Delete guardrail' })
      .click();
    await page.getByText('Guardrail Moderation deleted').waitFor();
    await page.getByText('No guardrails yet.').waitFor();
  });

  it('nothing on the way hurt accessibility, the policy of the page, or the browser', () =>
    story.assertNothingFound());
});
