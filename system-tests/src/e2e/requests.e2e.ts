import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { headers as names } from '@relay/contract';
import type { Page } from 'playwright-core';
import { createLane } from '../harness/admin-client.ts';
import { openStory } from './open-story.ts';
import { addMember, PASSWORD } from './people.ts';
import { seedFallback, untilRecorded } from './seed-requests.ts';
import { signInWithPassword, signInWithToken } from './sign-in.ts';

const LEASE_ENDS_MS_MAX = 60_000;

/** The request log from empty to live, over a restart of the server. */
describe('requests', () => {
  let laneId = '';
  let fellBackId = '';
  const story = openStory(async (site) => {
    const baseUrl = site.provider.baseUrl;
    const endpoints = [{ baseUrl, upstreamModel: 'sim-chat' }];
    ({ laneId } = await createLane(site.admin, { name: 'Assistant', endpoints }));
    await createLane(site.admin, { name: 'Batch jobs', endpoints });
  });
  before(() => signInWithToken(story.page, story.site.adminToken));

  /** Sends one request and answers its id. */
  async function ask(body: object = {}): Promise<string> {
    const response = await fetch(`${story.site.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${story.site.apiToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'assistant', messages: [{ role: 'user', content: 'Hello' }], ...body }),
    });
    await response.arrayBuffer();
    return response.headers.get(names.requestId) ?? '';
  }
  const askMany = (count: number, body: object = {}) =>
    Promise.all(Array.from({ length: count }, () => ask(body)));
  const rowOf = (id: string, page: Page = story.page) => page.locator(`tr[data-row="${id}"]`);
  /** What is in the table from the first row on; all of it must be in sight. */
  const shownIds = () =>
    story.page
      .locator('tr[data-row]')
      .evaluateAll((rows) => rows.map((row) => row.getAttribute('data-row') ?? ''));
  /** The table counts its rows, its header included, when all were read. */
  const untilShown = (count: number) => story.page.locator(`table[aria-rowcount="${count + 1}"]`).waitFor();
  const stateButton = (name: string) =>
    story.page.getByRole('group', { name: 'State' }).getByRole('button', { name, exact: true });
  const live = () => story.page.getByRole('switch', { name: 'Live' });

  it('nothing yet is said as such, with the way to the first request', async () => {
    await story.toPage('Requests');
    await story.page.getByText('No requests yet.').waitFor();
    await story.inspect('requests, empty');
  });

  it('requests are listed with how they ended, and filters stand in the address over a reload', async () => {
    const [completed = ''] = await askMany(6);
    await ask({ model: 'batch-jobs' });
    const failed = await ask({ sim: { status: 400 } });
    await untilRecorded(story.site, failed);
    await untilRecorded(story.site, completed);
    await story.page.reload();
    await rowOf(failed).getByText('Failed').waitFor();
    await rowOf(completed).getByText('Completed').waitFor();
    await story.page.getByRole('application').waitFor();
    await story.inspect('requests');
    await stateButton('Failed').click();
    await rowOf(completed).waitFor({ state: 'detached' });
    await story.page.reload();
    await rowOf(failed).waitFor();
    assert.match(story.page.url(), /state=failed/);
    assert.deepEqual(await shownIds(), [failed]);
    await stateButton('All').click();
    await story.button('Filter').click();
    await story.page.getByLabel('Lane', { exact: true }).selectOption({ label: 'Batch jobs' });
    await story.inspect('requests, filtering');
    await story.page.keyboard.press('Escape');
    await rowOf(failed).waitFor({ state: 'detached' });
    await story.page.getByText('lane: Batch jobs').waitFor();
    assert.equal((await shownIds()).length, 1);
  });

  it('a view is saved in this browser and brings its filters back', async () => {
    await story.button('Views').click();
    await story.page.getByText('Saved in this browser only').waitFor();
    await story.page.getByLabel('View name').fill('Batch');
    await story.button('Save view').click();
    await story.button('Batch').waitFor();
    await story.page.keyboard.press('Escape');
    await story.page.goto('/console/requests?error=not_found');
    await story.page.getByText('No results match these filters.').waitFor();
    await story.inspect('requests, nothing matches');
    await story.button('Clear filters').click();
    await untilShown(8);
    await story.button('Views').click();
    await story.button('Batch').click();
    await story.page.getByText('lane: Batch jobs').waitFor();
    await untilShown(1);
    await story.button('Remove filter by lane').click();
  });

  it('what is downloaded is what the filters say', async () => {
    await story.page.goto(`/console/requests?state=completed&lane=${laneId}`);
    await untilShown(6);
    const [file] = await Promise.all([
      story.page.waitForEvent('download'),
      story.page.getByRole('link', { name: 'Download CSV' }).click(),
    ]);
    const lines = readFileSync(await file.path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    assert.deepEqual(
      lines.slice(1).map((line) => line.slice(0, 36)),
      await shownIds(),
    );
  });

  it('a request that waited and fell back shows both attempts and the limit that bound', async () => {
    fellBackId = await seedFallback(story.site);
    await story.page.goto('/console/requests');
    await rowOf(fellBackId).waitFor();
    // By keyboard alone: down to the row, and in.
    const at = (await shownIds()).indexOf(fellBackId);
    await story.page.locator('tr[data-row] a').first().focus();
    for (let step = 0; step < at; step += 1) await story.page.keyboard.press('ArrowDown');
    await rowOf(fellBackId).locator('a:focus').waitFor();
    await story.page.keyboard.press('Enter');
    await story.page.waitForURL(`**/requests/${fellBackId}`);
    const steps = story.page.getByRole('listitem');
    await steps.filter({ hasText: 'Attempt 1: Summaries 1' }).getByText('returned 429').waitFor();
    await steps.filter({ hasText: 'Attempt 2: Summaries 2' }).getByText('returned 200').waitFor();
    await steps.filter({ hasText: 'Wait for capacity' }).waitFor();
    const tried = steps.filter({ hasText: 'Provider returned 429: the attempt failed' });
    await tried.getByText('Tried, failed').waitFor();
    const trace = story.page.locator('section', { hasText: 'Trace' });
    const times = await trace.getByText(/^latency/).textContent();
    const [, latency, first] = /^latency (.+), TTFT (.+)$/.exec(times ?? '') ?? [];
    assert.ok(first !== undefined, `${times} has no time to first token`);
    await story.page.getByText(`streamed a response in ${latency} total`).waitFor();
    const wait = steps.filter({ hasText: 'Wait for capacity' });
    await wait.getByText('limited by 1 concurrent request on lane Summaries').first().waitFor();
    const served = steps.filter({ hasText: 'Attempt 2: Summaries 2' });
    await served
      .getByText(/first token .+, 48 tokens, \d+ per second/)
      .first()
      .waitFor();
    await story.page.getByText('Prompts and responses aren’t stored').waitFor();
    await story.page.getByText('Usage reported by the provider.').waitFor();
    const limited = steps.filter({ hasText: 'limited this request' });
    await limited.getByText('1 concurrent request on lane Summaries').waitFor();
    await limited.getByText('1 left').waitFor();
    await story.inspect('request');
    const narrow = await story.open('dark', 390);
    await signInWithToken(narrow, story.site.adminToken);
    await narrow.goto(`/console/requests/${fellBackId}`);
    await narrow.getByText('limited this request').waitFor();
    await story.inspect('request, narrow', narrow);
    await narrow.context().close();
    const asked = story.site.provider.counts().requests;
    await story.button('Explain again').click();
    await story.page.getByText(/Relay would (send it to|wait)/).waitFor();
    assert.equal(story.site.provider.counts().requests, asked);
    await limited.getByRole('link').click();
    await story.page.waitForURL('**/limits?*');
    await story.page.goBack();
    await story.page.goBack();
    await rowOf(fellBackId).waitFor();
  });

  it('the receipt adds up to the exact cost, and says so when the price has changed since', async () => {
    await story.page.goto(`/console/requests/${fellBackId}`);
    const receipt = story.page.getByRole('table', { name: 'What the cost is made of' });
    const row = (name: string) => receipt.getByRole('row', { name });
    await row('1,364 input × $0.40 / 1M $0.00054560').waitFor();
    await row('2,048 cached input × $0.04 / 1M $0.00008192').waitFor();
    await row('48 output × $1.60 / 1M $0.00007680').waitFor();
    await row('Cost $0.00070432').waitFor();
    await row('Released').waitFor();
    const { admin } = story.site;
    const { body: request } = await admin.call('GET', `/api/relay/requests/${fellBackId}`);
    const { endpoint_id: endpointId } = request as { endpoint_id: string };
    const { body: prices } = await admin.call('GET', '/api/relay/pricing-policies');
    const price = (prices as { id: string; endpoint_id: string }[]).find(
      (each) => each.endpoint_id === endpointId,
    );
    const setOutput = (micros: number) =>
      admin.call('PUT', `/api/relay/pricing-policies/${price?.id}`, {
        output_cost_micros_per_1m_tokens: micros,
      });
    assert.equal((await setOutput(1_700_000)).status, 200);
    await story.page.reload();
    await story.page.getByText('the endpoint’s price has changed since this request').waitFor();
    await story.page.getByRole('cell', { name: '2,048' }).waitFor();
    await story.inspect('request, price changed');
    await story.page.getByRole('link', { name: 'Open price' }).click();
    await story.page.waitForURL(`**/endpoints?open=${endpointId}*`);
    assert.equal((await setOutput(1_600_000)).status, 200);
  });

  it('a request is opened in the playground, and copied as a link or for support', async () => {
    await story.page.goto(`/console/requests/${fellBackId}?from=elsewhere`);
    await story.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const copied = () => story.page.evaluate<string>('navigator.clipboard.readText()');
    await story.button('Copy link').click();
    await story.button('Copied').waitFor();
    assert.equal(await copied(), `${story.site.url}/console/requests/${fellBackId}`);
    await story.button('Copy link').waitFor();
    await story.button('Copy debug info').click();
    await story.button('Copied').waitFor();
    const debug = JSON.parse(await copied()) as { relay_version: string; request: { request_id: string } };
    assert.equal(debug.request.request_id, fellBackId);
    assert.match(debug.relay_version, /^\d/);
    await story.page.getByRole('link', { name: 'Open in playground' }).click();
    await story.page.waitForURL('**/playground?*');
    await story.page.locator('select:has(option:checked[value="summaries"])').first().waitFor();
  });

  it('requests that waited, and those that fell back, are found by a filter', async () => {
    await story.page.goto('/console/requests');
    await story.button('Filter').click();
    for (const [name, chip] of [
      ['Waited', 'waited: Yes'],
      ['Fell back', 'fell back: Yes'],
    ] as const) {
      await story.page.getByLabel(name, { exact: true }).selectOption({ label: 'Yes' });
      await story.page.getByText(chip).waitFor();
    }
    await story.page.keyboard.press('Escape');
    await untilShown(1);
    assert.deepEqual(await shownIds(), [fellBackId]);
    assert.match(story.page.url(), /waited=true/);
    await story.page.reload();
    await untilShown(1);
    await rowOf(fellBackId).getByRole('link').first().click();
    await story.page.waitForURL(`**/requests/${fellBackId}**`);
    await story.page.getByRole('link', { name: 'All requests' }).click();
    await story.page.getByText('fell back: Yes').waitFor();
    await story.button('Clear filters').click();
    await story.page.getByText('fell back: Yes').waitFor({ state: 'detached' });
  });

  it('a translated request names both protocols and what was left out, and so does its explanation', async () => {
    const { admin, provider } = story.site;
    const endpoint = { protocol: 'anthropic' };
    const at = { baseUrl: provider.baseUrl, upstreamModel: 'sim-claude', endpoint };
    await createLane(admin, { name: 'Translated', endpoints: [at] });
    const id = await ask({ model: 'translated', prompt_cache_key: 'k' });
    await untilRecorded(story.site, id);
    await story.page.goto(`/console/requests/${id}`);
    await story.page.getByText('Translated from Chat to Messages. Omitted: prompt_cache_key').waitFor();
    await story.inspect('request, translated');
    await story.button('Explain routing').click();
    await story.page.getByText('Translated from Chat to Messages', { exact: true }).waitFor();
  });

  it('an id that is not here says what may be the reason', async () => {
    await story.page.goto('/console/requests/019a8a3c-5d1e-7c40-9c0b-5f8f2a1d3e4f');
    await story.page.getByText('after the retention period').waitFor();
    await story.inspect('request, not found');
  });

  it('a pasted request id opens from the palette', async () => {
    await story.page.keyboard.press('Control+k');
    await story.page.getByPlaceholder(/paste a request ID/).fill(`  request_id: ${fellBackId.toUpperCase()}`);
    await story.page.getByRole('option', { name: `Open request ${fellBackId}` }).waitFor();
    await story.page.keyboard.press('Enter');
    await story.page.getByText('Attempt 2').waitFor();
  });

  it('whoever may see their own requests alone sees those, and not even that there are others', async () => {
    const theirs = await story.open('dark', 390);
    await signInWithPassword(theirs, await addMember(story.site, 'developer'), PASSWORD);
    await theirs.goto(`/console/requests/${fellBackId}`);
    await theirs.getByText('after the retention period').waitFor();
    await theirs.goto('/console/requests');
    await theirs.getByText('No requests yet.').waitFor();
    const own = await theirs.evaluate(async () => {
      const session = (await (await fetch('/api/session')).json()) as { csrf_token: string };
      const answer = await fetch('/v1/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-csrf-token': session.csrf_token },
        body: JSON.stringify({ model: 'assistant', messages: [{ role: 'user', content: 'Hello' }] }),
      });
      return answer.headers.get('x-request-id') ?? '';
    });
    await untilRecorded(story.site, own);
    await theirs.reload();
    await rowOf(own, theirs).waitFor();
    assert.equal(await theirs.locator('tr[data-row]').count(), 1);
    await theirs.getByText('You see only your own requests.').waitFor();
    await story.inspect('requests, own alone', theirs);
    await theirs.context().close();
  });

  it('live requests come by themselves, and nobody who reads further down is moved', async () => {
    await askMany(40);
    await story.page.goto('/console/requests');
    await live().click();
    await story.page.getByRole('status').getByText('Live', { exact: true }).waitFor();
    assert.match(story.page.url(), /live=true/);
    const seen = await ask();
    await rowOf(seen).waitFor();
    await story.page.evaluate('window.scrollTo(0, document.body.scrollHeight / 2)');
    await story.page.getByText('Paused while you scroll').waitFor();
    const place = () =>
      story.page.evaluate<[string, number] | null>(`(() => {
        const row = document.elementFromPoint(700, 450)?.closest('tr[data-row]');
        return row ? [row.dataset.row, row.getBoundingClientRect().top] : null;
      })()`);
    const before = await place();
    assert.ok(before !== null);
    const [first = '', second = ''] = await askMany(2);
    await story.button('2 new requests').waitFor();
    assert.deepEqual(await place(), before);
    await story.inspect('requests, live');
    await story.button('2 new requests').click();
    await rowOf(first).waitFor();
    await rowOf(second).waitFor();
  });

  it('the live tail goes on after the server died and came back, with none missed and none doubled', async () => {
    // Some are shown before the restart, some are answered but not yet shown, and some come after it.
    const told = await askMany(3);
    for (const id of told) await rowOf(id).waitFor();
    const untold = await askMany(5);
    const restarted = story.site.restart();
    await story.page.getByText('Reconnecting…').waitFor();
    await restarted;
    await story.page.getByRole('status').getByText('Live', { exact: true }).waitFor();
    const after = await askMany(4);
    // Those that the killed server had not settled yet are recorded when their lease ends.
    for (const id of [...untold, ...after]) await rowOf(id).waitFor({ timeout: LEASE_ENDS_MS_MAX });
    const ids = await shownIds();
    assert.equal(new Set(ids).size, ids.length, 'a request is there twice');
    const { body } = await story.site.admin.call('GET', `/api/relay/requests?limit=${ids.length}`);
    const { data } = body as { data: readonly { request_id: string }[] };
    assert.deepEqual(new Set(ids), new Set(data.map((entry) => entry.request_id)));
  });

  it('nothing on the way hurt accessibility, the policy of the page, or the browser', () =>
    story.assertNothingFound());
});
