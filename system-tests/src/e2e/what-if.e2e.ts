import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { createLane } from '../harness/admin-client.ts';
import { until } from '../harness/until.ts';
import { openStory } from './open-story.ts';
import { signInWithToken } from './sign-in.ts';

const ALLOWED = 6;
const REQUESTS = 10;
/** To a lane that no edit is of. */
const OTHERS = 2;
const CENT_MICROS = 10_000;
const LEDGER_MS_MAX = 30_000;
const WHAT_IF = '**/api/relay/what-if';

/** What an edit would have done, and what it would do now, before it is saved. */
describe('what-if', () => {
  let laneId = '';
  let policyId = '';
  let secret = '';
  const story = openStory(async (site) => {
    const endpoint = { baseUrl: site.provider.baseUrl, upstreamModel: 'sim-chat' };
    const made = await createLane(site.admin, { name: 'Assistant', endpoints: [endpoint, endpoint] });
    laneId = made.laneId;
    await createLane(site.admin, { name: 'Background', endpoints: [endpoint] });
    for (const endpointId of made.endpointIds)
      await site.admin.create('/api/relay/pricing-policies', {
        endpoint_id: endpointId,
        input_cost_micros_per_1m_tokens: 0,
        output_cost_micros_per_1m_tokens: 0,
        flat_request_cost_micros: CENT_MICROS,
      });
    const limit = await site.admin.create('/api/relay/limit-policies', {
      scope_type: 'lane',
      scope_id: laneId,
      metric: 'requests',
      period: 'minute',
      limit_value: ALLOWED,
      enabled: true,
    });
    policyId = limit.id;
    const key = await site.admin.create('/api/account/api-keys', {
      name: 'Review bot',
      scopes: ['relay:request'],
    });
    secret = String(key['api_key']);
  });
  before(() => signInWithToken(story.page, story.site.adminToken));

  const panel = (page: Page = story.page): Locator => page.getByRole('region', { name: 'What-if' });
  const inPanel = (name: string) => panel().getByRole('button', { name, exact: true });
  const waitBudget = (page: Page = story.page) => page.getByLabel('Milliseconds', { exact: true });

  async function toLane(page: Page = story.page): Promise<void> {
    await page.goto(`/console/lanes/${laneId}`);
    await page.getByRole('heading', { name: 'Assistant', level: 1 }).waitFor();
    await waitBudget(page).waitFor();
  }

  /** More requests than the limit allows in a minute, for which the wait budget is too short. */
  async function sendRequests(): Promise<void> {
    const ask = async (model: string) => {
      const response = await fetch(`${story.site.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
      });
      await response.text();
      return response.status;
    };
    const statuses: number[] = [];
    for (let sent = 0; sent < REQUESTS; sent += 1) statuses.push(await ask('assistant'));
    for (let sent = 0; sent < OTHERS; sent += 1) assert.equal(await ask('background'), 200);
    assert.equal(statuses.filter((status) => status === 429).length, REQUESTS - ALLOWED);
    const recorded = async () => {
      const { body } = await story.site.admin.call('GET', '/api/relay/requests?limit=100');
      return (body as { data: unknown[] }).data.length === REQUESTS + OTHERS;
    };
    assert.ok(await until(recorded, LEDGER_MS_MAX, 200), 'the ledger does not have the requests');
  }

  it('without an edit there is no panel, and without requests there is nothing to replay', async () => {
    await toLane();
    assert.equal(await panel().count(), 0);
    await waitBudget().fill('600000');
    await panel().getByText('Replays the last 7 days of requests').waitFor();
    await story.inspect('lane, what-if not run yet');
    await inPanel('Replay 7 days').click();
    await panel().getByText('No requests in the last 7 days').waitFor();
  });

  it('an edited lane is replayed from the keyboard, and says what it would have changed for which key and limit', async () => {
    await sendRequests();
    await toLane();
    await waitBudget().fill('600000');
    await inPanel('Replay 7 days').focus();
    await story.page.keyboard.press('Enter');
    await panel()
      .getByText(`${REQUESTS - ALLOWED} fewer rejections`)
      .first()
      .waitFor();
    await panel().getByText(`${REQUESTS} requests to lane Assistant, last 7 days`).waitFor();
    await panel().getByRole('columnheader', { name: 'Current settings' }).waitFor();
    await panel().getByRole('columnheader', { name: 'With your edits' }).waitFor();
    assert.equal(await panel().getByText('ffected lanes').count(), 0);
    const rejected = panel().getByRole('row', { name: /^Rejected/ });
    assert.equal(await rejected.textContent(), 'Rejected40%4 of 100%0 of 10−4 requests');
    await panel().getByText(`reject as many requests as Relay did when they were sent: 4.`).waitFor();
    assert.equal(await panel().getByText('ejecting with your edits').count(), 0);
    await panel().getByText('Key Review bot').waitFor();
    await panel().getByText('Shared limit, Assistant, 6 requests per minute').waitFor();
    await panel().getByText('Assistant 1').waitFor();
    assert.equal(await story.page.evaluate('document.activeElement?.textContent'), 'Replay again');
    await story.inspect('lane, what-if');
  });

  it('a result is marked when the edit changes after it, and says when nothing would differ', async () => {
    await waitBudget().fill('5001');
    await panel().getByText('You made more changes after this replay. Replay again.').waitFor();
    await story.inspect('lane, what-if out of date');
    await inPanel('Replay again').click();
    await panel().getByText('No difference in rejections, waits, fallbacks or spend.').waitFor();
    assert.equal(await panel().getByText('You made more changes').count(), 0);
    await panel().getByText('Still rejecting with your edits').waitFor();
    await panel().getByText('6 requests per minute on lane Assistant').waitFor();
    await panel()
      .getByText(`${REQUESTS - ALLOWED} requests`, { exact: true })
      .waitFor();
  });

  it('a running replay can be cancelled, and one that finds no place says so', async () => {
    await waitBudget().fill('700000');
    const held = Promise.withResolvers<void>();
    await story.page.route(WHAT_IF, async (route) => {
      await held.promise;
      await route.abort().catch(() => undefined);
    });
    await inPanel('Replay again').click();
    await panel().getByText('Replaying the last 7 days…').waitFor();
    await story.inspect('lane, what-if running');
    await inPanel('Cancel replay').click();
    await inPanel('Replay 7 days').waitFor();
    held.resolve();
    await story.page.unroute(WHAT_IF);
    await story.page.route(WHAT_IF, (route) =>
      route.fulfill({ status: 429, json: { error: { code: 'queue_full', message: 'Too many.' } } }),
    );
    await inPanel('Replay 7 days').click();
    await panel().getByText('Too many replays are running in this organization.').waitFor();
    await story.page.unroute(WHAT_IF);
  });

  it('an unsaved lane is explained: its order, its endpoints and its wait budget', async () => {
    await toLane();
    await story.page.getByLabel('Operation').waitFor();
    await story.button('Move Assistant 2 up').click();
    await story.page.getByRole('switch', { name: 'Use Assistant 1' }).click();
    await story.page.getByText('uses your unsaved changes').waitFor();
    const explain = story.button('Explain routing');
    await explain.focus();
    await story.page.keyboard.press('Enter');
    const candidates = story.page.getByRole('listitem').filter({ hasText: 'estimated' });
    await candidates.filter({ hasText: 'Assistant 1' }).getByText('Disabled', { exact: true }).waitFor();
    assert.match((await candidates.first().textContent()) ?? '', /Assistant 2/);
    await story.inspect('lane, unsaved edit explained');
    await story.button('Discard changes').click();
    await story.page.getByText('The lane changed after this result.').waitFor();
    const { body } = await story.site.admin.call('GET', `/api/relay/routing-lanes/${laneId}`);
    const { members } = body as { members: readonly { enabled: boolean }[] };
    assert.deepEqual(
      members.map(({ enabled }) => enabled),
      [true, true],
    );
  });

  it('unsaved changes are not lost to a link without a question', async () => {
    await toLane();
    await waitBudget().fill('7000');
    const toRequests = story.page.getByRole('link', { name: 'Requests', exact: true });
    await toRequests.click();
    const asked = story.page.getByRole('dialog', { name: 'Discard unsaved changes?' });
    await asked.waitFor();
    await story.inspect('lane, leaving with unsaved changes');
    await asked.getByRole('button', { name: 'Cancel', exact: true }).click();
    await asked.waitFor({ state: 'detached' });
    assert.equal(await waitBudget().inputValue(), '7000');
    await toRequests.click();
    await asked.getByRole('button', { name: 'Discard changes', exact: true }).click();
    await story.page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor();
  });

  it('an edited limit is replayed in its dialog', async () => {
    await story.page.goto(`/console/limits?open=${policyId}`);
    await story.button('Edit limit').click();
    const dialog = story.page.getByRole('dialog', { name: 'Edit limit' });
    const amount = dialog.getByLabel(/^Limit/);
    await amount.waitFor();
    assert.equal(await story.page.evaluate('document.activeElement?.id'), await amount.getAttribute('id'));
    assert.equal(await panel().count(), 0);
    await amount.fill('');
    await panel().getByText('Complete the form to run a replay.').waitFor();
    await amount.fill('100');
    await inPanel('Replay 7 days').click();
    await panel()
      .getByText(`${REQUESTS - ALLOWED} fewer rejections`)
      .first()
      .waitFor();
    await panel().getByText(`${REQUESTS} requests that this limit applies to, last 7 days`).waitFor();
    await panel().getByText('Affected lanes').waitFor();
    await panel().getByText('Shared limit, Assistant, 100 requests per minute (6 now)').waitFor();
    await story.inspect('limit, what-if');
    await dialog.getByRole('button', { name: 'Cancel', exact: true }).click();
  });

  it('fits a phone in the dark', async () => {
    const phone = await story.open('dark', 390);
    await signInWithToken(phone, story.site.adminToken);
    await toLane(phone);
    await waitBudget(phone).fill('600000');
    await panel(phone).getByRole('button', { name: 'Replay 7 days' }).click();
    await panel(phone).getByText('fewer rejections').first().waitFor();
    await story.inspect('lane on a phone, what-if', phone);
    const width = await phone.evaluate('document.documentElement.scrollWidth');
    assert.ok(Number(width) <= 390, `${width} px wide`);
  });

  it('no page violated a rule or logged an error', () => story.assertNothingFound());
});
