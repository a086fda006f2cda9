import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { durationWords } from '@relay/contract/words';
import { createLane } from '../harness/admin-client.ts';
import { type LedgerView, openLedgerView } from '../harness/ledger-view.ts';
import { sendTagged } from '../harness/tagged-request.ts';
import { until } from '../harness/until.ts';
import { holdRequests } from './held-requests.ts';
import { openStory } from './open-story.ts';
import { signInWithToken } from './sign-in.ts';

/** One is served at a time, so each waits for all before it. */
const DELAYS_MS = [100, 700, 900, 800, 1_000, 600, 400];
const ROWS_MS_MAX = 30_000;
/** Each has at most two significant digits, so the number is exact. */
const BUDGETS_MS = [900, 2_000, 3_000, 5_000];
const PRICES = { input_cost_micros_per_1m_tokens: 2_500_000, output_cost_micros_per_1m_tokens: 10_000_000 };

/** What pages show, against the rows of the ledger. */
describe('numbers on pages', () => {
  let laneId = '';
  let endpointId = '';
  let ledger: LedgerView;
  let waits: number[];
  const story = openStory(async (site) => {
    const lane = await createLane(site.admin, {
      name: 'Narrow',
      endpoints: [{ baseUrl: site.provider.baseUrl, upstreamModel: 'sim-chat' }],
      lane: { default_max_wait_ms: 10_000 },
    });
    laneId = lane.laneId;
    const [endpoint_id = ''] = lane.endpointIds;
    endpointId = endpoint_id;
    await site.admin.create('/api/relay/pricing-policies', { endpoint_id, currency: 'USD', ...PRICES });
    await site.admin.create('/api/relay/limit-policies', {
      scope_type: 'endpoint',
      scope_id: endpoint_id,
      metric: 'concurrency',
      period: 'none',
      limit_value: 1,
    });
  });
  before(async () => {
    ledger = openLedgerView(story.site.postgres.url);
    const target = { url: story.site.url, token: story.site.apiToken, model: 'narrow' };
    const isKnown = async () => (await sendTagged({ ...target, tag: 'first' }).answer).status === 200;
    assert.ok(await until(isKnown, ROWS_MS_MAX));
    const sent = DELAYS_MS.map((delayMs, number) =>
      sendTagged({ ...target, tag: `n-${number}`, sim: { delayMs } }),
    );
    for (const { answer } of sent) assert.equal((await answer).status, 200);
    assert.ok(await until(async () => (await readWaits()).length > DELAYS_MS.length, ROWS_MS_MAX));
    waits = await readWaits();
    await signInWithToken(story.page, story.site.adminToken);
  });
  after(() => ledger?.close());

  const readWaits = async () =>
    (await ledger.query<{ wait_ms: number }>('select wait_ms from requests where lane_id is not null')).map(
      ({ wait_ms }) => wait_ms,
    );

  it('a lane has its wait budget, and the requests, 95th percentile and spend of its rows', async () => {
    const [right] = await ledger.query<{ ms: number; micros: number }>(
      `select percentile_disc(0.95) within group (order by wait_ms) as ms, sum(actual_cost_micros)::int as micros
        from requests where lane_id is not null`,
    );
    assert.ok(right !== undefined && right.ms > 1_000 && right.micros > 0);
    await story.page.goto(`${story.site.url}/console/lanes`);
    const row = story.page.getByRole('row', { name: /^Narrow/ });
    await row.getByRole('cell', { name: durationWords(right.ms), exact: true }).waitFor();
    await row.getByRole('cell', { name: '10 s', exact: true }).waitFor();
    await row.getByRole('cell', { name: String(waits.length), exact: true }).waitFor();
    await row.getByRole('cell', { name: /1 Narrow 1.*Healthy/ }).waitFor();
    const spent = await row.getByRole('cell', { name: /^\$/ }).textContent();
    assert.equal(Number(spent?.slice(1)), Number((right.micros / 1_000_000).toPrecision(2)));
    await story.inspect('lanes');
  });

  it('the number of waits that a wait budget is enough for is that of the rows', async () => {
    await story.page.goto(`${story.site.url}/console/lanes/${laneId}`);
    const field = story.page.getByLabel('Milliseconds', { exact: true });
    const waited = waits.filter((waitMs) => waitMs > 0);
    for (const budgetMs of BUDGETS_MS) {
      await field.fill(String(budgetMs));
      const within = waited.filter((waitMs) => waitMs <= budgetMs).length;
      const said = `A wait budget of ${durationWords(budgetMs)} is enough for ${within} of the ${waited.length} requests that waited in the last 7 days.`;
      await story.page.getByText(said).waitFor();
      await story.page.getByText(`waited longer${waited.length - within}`).waitFor();
    }
    await story.page.getByText('saved, 10 s').waitFor();
    await story.inspect('wait budget');
  });

  it('in its lane, an endpoint has its share, its cost per request and its load against its limit', async () => {
    const [row] = await ledger.query<{ requests: number; micros: number }>(
      `select count(*)::int as requests, sum(actual_cost_micros)::int as micros from requests where lane_id is not null`,
    );
    assert.ok(row !== undefined && row.requests > 0 && row.micros > 0);
    await story.site.admin.call('PUT', `/api/relay/endpoints/${endpointId}`, { max_concurrency: 1 });
    await story.page.goto(`${story.site.url}/console/lanes/${laneId}`);
    const shares = story.page.getByRole('list', { name: 'Traffic share, last 7 days' });
    await shares.getByTitle(`Narrow 1: 100%, ${row.requests} requests`).waitFor();
    assert.deepEqual(await shares.getByRole('listitem').allTextContents(), ['Narrow 1 100%']);
    const endpoint = story.page.getByRole('row', { name: /Narrow 1/ });
    await endpoint.getByRole('cell', { name: '0 of 1 in flight in total', exact: true }).waitFor();
    const cost = endpoint.getByRole('cell', { name: /^\$/ });
    await cost.waitFor();
    assert.equal(
      Number((await cost.textContent())?.slice(1)),
      Number((row.micros / row.requests / 1_000_000).toPrecision(2)),
    );
    await endpoint.getByRole('cell', { name: /^[\d.]+ m?s$/ }).waitFor();
    const held = holdRequests(story.site);
    held.hold('narrow', 1);
    await endpoint.getByRole('cell', { name: '1 of 1 in flight in total', exact: true }).waitFor();
    await endpoint.getByRole('cell', { name: 'At limit', exact: true }).waitFor();
    await story.inspect('a lane with an endpoint at its limit');
    held.end();
    await endpoint.getByRole('cell', { name: '0 of 1 in flight in total', exact: true }).waitFor();
  });

  it('on a phone, the facts of an endpoint stand below its name', async () => {
    const phone = await story.open('dark', 390);
    await signInWithToken(phone, story.site.adminToken);
    await phone.goto(`${story.site.url}/console/lanes/${laneId}`);
    const cell = phone.getByRole('cell', {
      name: /^Narrow 1 Healthy 0 of 1 in flight TTFT p95 .* \$.* \/ request$/,
    });
    await cell.waitFor();
    assert.equal(await phone.getByRole('columnheader', { name: 'Concurrency' }).count(), 0);
    assert.equal(
      await phone.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
      0,
    );
    await story.inspect('lane on a phone', phone);
    await phone.context().close();
  });

  it('the playground shows what a stream cost, as the ledger has it', async () => {
    await story.page.goto(`${story.site.url}/console/playground`);
    await story.page.getByLabel('Message', { exact: true }).fill('What did this cost?');
    await story.page.keyboard.press('Enter');
    const cost = story.page.locator('dt', { hasText: 'Cost' }).locator('xpath=following-sibling::dd');
    await cost.filter({ hasNotText: 'estimated' }).waitFor();
    const [row] = await ledger.query<{ micros: number; streaming: boolean }>(
      `select round(actual_cost_micros - actual_cost_rounding_picos / 1e6)::int as micros, streaming
        from requests order by request_id desc limit 1`,
    );
    assert.equal(row?.streaming, true);
    assert.equal(await cost.textContent(), `$${(row.micros / 1_000_000).toFixed(6).replace(/0{1,4}$/, '')}`);
  });

  it('a request that went past its wait budget is shown as such, in the log and on its page', async () => {
    const [row] = await ledger.query<{ request_id: string }>(
      `update requests set wait_budget_ms = 500 where request_id =
        (select request_id from requests where wait_ms > 1000 order by request_id limit 1) returning request_id`,
    );
    await story.page.goto(`${story.site.url}/console/requests`);
    await story.page.getByRole('img', { name: 'Exceeded its wait budget of 500 ms' }).waitFor();
    assert.equal(await story.page.getByRole('img', { name: /^Exceeded its wait budget/ }).count(), 1);
    await story.inspect('requests, past a wait budget');
    await story.page.goto(`${story.site.url}/console/requests/${row?.request_id}`);
    await story.page.getByText('Exceeded its wait budget of 500 ms').waitFor();
    await story.inspect('a request past its wait budget');
  });

  it('is shown with nothing that broke', () => story.assertNothingFound());
});
