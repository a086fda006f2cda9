import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { Timeseries } from '@relay/contract';
import { createLane } from '../harness/admin-client.ts';
import { openStory } from './open-story.ts';
import { seedHistory } from './seed-history.ts';
import { signInWithToken } from './sign-in.ts';

/** Home and Usage, from a deployment with nothing to one with thirty days behind it. */
describe('figures', () => {
  const story = openStory();
  const chart = () => story.page.getByRole('application').first();
  const heading = (name: string) => story.page.getByRole('heading', { name, exact: true });

  /** What the page got from the interface, while something is done. Read on the way: a browser forgets bodies when it navigates. */
  async function answerTo(metric: string, act: () => Promise<unknown>): Promise<Timeseries> {
    const answer = Promise.withResolvers<Timeseries>();
    const isAsked = (url: URL) =>
      url.pathname.endsWith('/stats/timeseries') && url.searchParams.get('metric') === metric;
    await story.page.route(
      isAsked,
      async (route) => {
        const response = await route.fetch();
        answer.resolve((await response.json()) as Timeseries);
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    await act();
    return await answer.promise;
  }

  /** The numbers of the chart's table, by its columns and rows, oldest first. */
  async function tableOf(title: string) {
    const table = story.page.getByRole('table', { name: new RegExp(`^${title} \\(`) });
    const [head = [], ...rows] = await table
      .getByRole('row')
      .evaluateAll((found) => found.map((row) => [...row.children].map((cell) => cell.textContent ?? '')));
    const numberOf = (cell: string) => (cell === '–' ? null : Number(cell.replaceAll(',', '')));
    return { columns: head.slice(1), rows: rows.toReversed().map((cells) => cells.slice(1).map(numberOf)) };
  }

  /** Lanes, prices, keys, a limit, and a month behind them; one lane that was never used. */
  async function fill(): Promise<void> {
    const { admin, provider } = story.site;
    const laneOf = (name: string, ...models: string[]) =>
      createLane(admin, {
        name,
        endpoints: models.map((upstreamModel) => ({ baseUrl: provider.baseUrl, upstreamModel })),
      });
    const used = [
      await laneOf('Assistant', 'sim-chat', 'sim-chat-b'),
      await laneOf('Batch jobs', 'sim-multi'),
    ];
    await laneOf('Embeddings', 'sim-embed');
    for (const endpointId of used.flatMap(({ endpointIds }) => endpointIds))
      await admin.create('/api/relay/pricing-policies', {
        endpoint_id: endpointId,
        input_cost_micros_per_1m_tokens: 400_000,
        output_cost_micros_per_1m_tokens: 1_600_000,
      });
    for (const name of ['Support bot', 'Nightly batch'])
      await admin.create('/api/account/api-keys', { name, scopes: ['relay:request'] });
    await admin.create('/api/relay/limit-policies', {
      scope_type: 'global',
      metric: 'requests',
      period: 'minute',
      limit_value: 1_000,
    });
    await seedHistory(story.site);
  }

  it('a new deployment opens with what is to be set up, and says that nothing was used', async () => {
    await signInWithToken(story.page, story.site.adminToken);
    await story.page.waitForURL('**/console/home');
    await heading('Set up Relay').waitFor();
    await story.page.getByText('0 of 7 done').waitFor();
    await story.page.getByRole('link', { name: 'Add provider' }).waitFor();
    await story.inspect('home, new');
    await story.toPage('Usage');
    await story.page.getByText('No requests yet.').waitFor();
    await story.inspect('usage, new');
  });

  it('the checklist goes on with what is there, and is gone when all is done', async () => {
    await story.site.admin.create('/api/relay/providers', {
      name: 'First',
      base_url: 'https://example.com/v1',
    });
    await story.page.goto('/console/home');
    await story.page.getByText('1 of 7 done').waitFor();
    await story.page.getByRole('link', { name: 'Set credential' }).waitFor();
    await fill();
    await story.page.reload();
    await story.page.getByText('4 idle').waitFor();
    assert.equal(await heading('Set up Relay').count(), 0);
    // Without a key, only that is left: the checklist comes last, and can be dismissed.
    await story.page.route('**/api/org/api-keys*', (route) => route.fulfill({ json: [] }));
    await story.page.reload();
    await heading('Set up Relay').waitFor();
    const [checklist, traffic] = [heading('Set up Relay'), heading('Traffic')];
    assert.ok(((await checklist.boundingBox())?.y ?? 0) > ((await traffic.boundingBox())?.y ?? 0));
    await story.inspect('home, a key to create');
    await story.button('Dismiss').click();
    await checklist.waitFor({ state: 'detached' });
    await story.page.reload();
    await traffic.waitFor();
    assert.equal(await checklist.count(), 0);
    await story.page.unroute('**/api/org/api-keys*');
    await story.page.reload();
    await traffic.waitFor();
  });

  it('the totals say what the interface says, in few questions', async () => {
    const asked: string[] = [];
    story.page.on('request', (request) => {
      // What is in flight is asked again and again.
      if (request.url().includes('/api/') && !request.url().endsWith('/live')) asked.push(request.url());
    });
    const asking = story.page.waitForRequest(/timeseries\?metric=requests&group_by=service/);
    const answer = await answerTo('requests', () => story.page.reload());
    await chart().waitFor();
    await story.page.waitForLoadState('networkidle');
    // Twice the range is read; the hour in which the range begins belongs to it.
    const { searchParams } = new URL((await asking).url());
    const [fromMs, toMs] = ['from', 'to'].map((name) => Date.parse(searchParams.get(name) ?? ''));
    const startMs = Math.floor(((fromMs ?? 0) + (toMs ?? 0)) / 2 / 3_600_000) * 3_600_000;
    const expected = answer.series
      .flatMap(({ points }) => points)
      .filter(({ at }) => Date.parse(at) >= startMs)
      .reduce((sum, { value }) => sum + (value ?? 0), 0);
    const row = story.page.locator('dl > div').filter({ hasText: /^Requests/ });
    await row.getByText(expected.toLocaleString('en-US'), { exact: true }).waitFor();
    assert.equal(new Set(asked).size, asked.length, 'nothing is asked twice');
    assert.ok(asked.length <= 25, `${asked.length} questions`);
    story.page.removeAllListeners('request');
    await story.inspect('home');
  });

  it('a total leads to its figure in Usage', async () => {
    await story.page.getByTitle('Open Requests in Usage').click();
    await heading('Requests by outcome').waitFor();
    await chart().waitFor();
    await story.inspect('usage');
  });

  it('metric and group are chosen by keyboard, and the address carries them over a reload', async () => {
    await story.page.goto('/console/usage?range=7d&bucket=day');
    await heading('Spend by model').waitFor();
    await story.page.getByText('not an invoice').waitFor();
    await story.page.getByLabel('Metric', { exact: true }).focus();
    await story.page.keyboard.type('Requ');
    await heading('Requests by model').waitFor();
    await story.page.getByLabel('Group by', { exact: true }).focus();
    await story.page.keyboard.type('API');
    await heading('Requests by API key').waitFor();
    assert.match(story.page.url(), /range=7d.*metric=requests.*by=api_key|metric=requests.*by=api_key/);
    await story.page.reload();
    await heading('Requests by API key').waitFor();
    await story.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await story.button('Copy link').click();
    await story.page.getByText('Copied').first().waitFor();
    assert.equal(await story.page.evaluate('navigator.clipboard.readText()'), story.page.url());
  });

  it('the table under the button has the numbers of the interface, and so has the sheet', async () => {
    const answer = await answerTo('requests', () => story.page.reload());
    assert.equal(answer.bucket, 'day');
    await story.button('Table of Requests by API key').focus();
    await story.page.keyboard.press('Enter');
    const some = answer.series.filter(({ total }) => (total ?? 0) > 0);
    const table = await tableOf('Requests by API key');
    const labels = some.map(({ kind, label }) => (kind === 'none' ? 'API token' : label));
    const values = answer.series[0]?.points.map((_, index) =>
      some.map(({ points }) => points[index]?.value ?? null),
    );
    assert.deepEqual(table.columns, labels);
    assert.deepEqual(table.rows, values);
    await story.inspect('usage, table');
    const [sheet] = await Promise.all([
      story.page.waitForEvent('download'),
      story.button('Download CSV').click(),
    ]);
    assert.match(sheet.suggestedFilename(), /^usage-requests-by-api-key-.*-to-.*\.csv$/);
    const [head, ...lines] = (await readFile(await sheet.path(), 'utf8')).trimEnd().split('\r\n');
    assert.equal(head, 'API key,Requests,"Share, %",Peak,"Peak at, UTC"');
    const shown = story.page.getByRole('table', { name: 'Requests by API key, ranked' }).locator('tbody tr');
    const rows = await shown.evaluateAll((all) =>
      all.map((row) => [...row.querySelectorAll('td, th')].slice(0, 2).map((cell) => cell.textContent)),
    );
    assert.deepEqual(
      lines.map((line) => line.split(',').slice(0, 2)),
      rows.map(([name, count]) => [name, count?.replaceAll(',', '')]),
    );
  });

  it('a chart is read by keyboard, and a stretch of it is looked at closer', async () => {
    await story.button('Chart of Requests by API key').click();
    await chart().focus();
    await story.page.keyboard.press('ArrowRight');
    await story.page.getByRole('status').getByText('Total').waitFor();
    await story.page.keyboard.press('Escape');
    const box = await chart().boundingBox();
    assert.ok(box !== null);
    await story.page.mouse.move(box.x + box.width * 0.4, box.y + 80);
    await story.page.mouse.down();
    await story.page.mouse.move(box.x + box.width * 0.6, box.y + 90, { steps: 4 });
    await story.page.mouse.up();
    await story.page.waitForURL(/from=.*to=/);
    await story.button('Table of Requests by API key').click();
    await story.page.getByRole('rowheader').first().getByRole('button').waitFor();
  });

  it('a row narrows the page to it, and what has nothing says so', async () => {
    await story.page.goto('/console/usage?range=30d&by=lane');
    await story.page
      .getByRole('row', { name: /Batch jobs/ })
      .getByRole('button')
      .click();
    await heading('Spend by model').waitFor();
    assert.match(story.page.url(), /lane=/);
    await story.page.getByLabel('Lane', { exact: true }).selectOption({ label: 'Embeddings' });
    await story.page.getByText('No results match these filters').waitFor();
    await story.inspect('usage, nothing matches');
    await story.button('Clear filters').first().click();
    await story.page
      .getByRole('row', { name: /sim-multi/ })
      .first()
      .waitFor();
  });

  it('a chosen time range stays on the way through other pages, and through links without one', async () => {
    await story.page.goto('/console/usage');
    await story.button('Time range: Last 24 hours').click();
    await story.button('Last 7 days').click();
    await story.toPage('Requests');
    await story.button('Time range: Last 7 days').waitFor();
    await story.page.locator('tr[data-row] a').first().click();
    await story.page.getByRole('heading', { name: 'Trace', exact: true }).waitFor();
    await story.toPage('Endpoints');
    await story.button('Assistant 1').click();
    await story.page.keyboard.press('Escape');
    await story.toPage('Usage');
    await story.button('Time range: Last 7 days').waitFor();
    await story.page.getByRole('main').getByRole('link', { name: 'Showback' }).click();
    await story.page.getByRole('heading', { name: 'Showback', level: 1 }).waitFor();
    await story.button('Time range: Last 7 days').click();
    await story.button('Last 24 hours').click();
    await story.button('Time range: Last 24 hours').waitFor();
    await story.page.getByRole('main').getByRole('link', { name: 'Billing' }).click();
    await story.page.getByText('See what each month cost').waitFor();
    await story.inspect('billing');
  });

  it('what could not be read says why, and is tried again', async () => {
    await story.page.route('**/stats/timeseries?*', (route) => route.abort());
    await story.page.goto('/console/usage?metric=errors');
    await story.page.getByText('Can’t reach Relay.').waitFor();
    await story.page.unroute('**/stats/timeseries?*');
    await story.button('Try again').click();
    await heading('Errors by model').waitFor();
  });

  it('who may not read usage is told which scope is missing', async () => {
    const message = 'This needs the scope relay:usage:read.';
    await story.page.route('**/stats/timeseries?*', (route) =>
      route.fulfill({ status: 403, json: { error: { code: 'insufficient_scope', message } } }),
    );
    await story.page.goto('/console/usage?metric=requests');
    await story.page.getByText('You don’t have access.').waitFor();
    await story.page.getByText(message).waitFor();
    await story.page.goto('/console/home');
    await story.page.getByText(message).waitFor();
  });

  it('nothing on the way hurt accessibility, the policy of the page, or the browser', () =>
    story.assertNothingFound());
});
