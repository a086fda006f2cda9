import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { createLane } from '../harness/admin-client.ts';
import { until } from '../harness/until.ts';
import { type HeldRequests, holdRequests } from './held-requests.ts';
import { openStory } from './open-story.ts';
import { addMember, PASSWORD } from './people.ts';
import { signInWithPassword, signInWithToken } from './sign-in.ts';

const QUIET_LANES = 98;

describe('live', () => {
  let held: HeldRequests;
  // Before the deployment stops: it would wait for them.
  after(() => held?.end());
  const story = openStory(async (site) => {
    const { admin, provider } = site;
    const { baseUrl } = provider;
    held = holdRequests(site);
    await createLane(admin, {
      name: 'Assistant',
      lane: { default_max_wait_ms: 60_000 },
      endpoints: [{ baseUrl, upstreamModel: 'sim-chat', endpoint: { max_concurrency: 2 } }],
    });
    await createLane(admin, {
      name: 'Triage',
      lane: { default_max_wait_ms: 0 },
      endpoints: [{ baseUrl, upstreamModel: 'sim-chat', endpoint: { max_concurrency: 1 } }],
    });
    await createLane(admin, {
      name: 'Search',
      endpoints: ['sim-chat-b', 'sim-multi'].map((upstreamModel) => ({ baseUrl, upstreamModel })),
    });
  });
  before(() => signInWithToken(story.page, story.site.adminToken));

  /** The row of a lane, and in it the one of an endpoint. */
  const laneIn = (page: Page, name: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) });
  const lane = (name: string) => laneIn(story.page, name);
  const endpoint = (laneName: string, name: string) =>
    lane(laneName)
      .getByRole('listitem')
      .filter({ has: story.page.getByRole('link', { name, exact: true }) });

  it('nothing is moving, and there is one thing to do about it', async () => {
    await story.toPage('Live');
    await story.page.getByText('No requests in flight.').waitFor();
    await story.page.getByText('Live', { exact: true }).last().waitFor();
    await story.page.getByText('No requests fell back in the last 5 minutes.').waitFor();
    await story.inspect('live, nothing');
    assert.equal(
      await story.page.getByRole('link', { name: 'Open playground' }).getAttribute('href'),
      '/console/playground',
    );
  });

  it('streams that are held open are in flight at their endpoint, against its maximum', async () => {
    held.hold('assistant', 2);
    await lane('Assistant').getByText('2 in flight').first().waitFor();
    await endpoint('Assistant', 'Assistant 1').getByText('2 of 2').waitFor();
    await lane('Search').getByText('idle', { exact: true }).waitFor();
  });

  it('a request that a limit holds back waits in its lane, then moves when there is room', async () => {
    held.hold('assistant', 1);
    await lane('Assistant')
      .getByText(/1 waiting · /)
      .waitFor();
    await endpoint('Assistant', 'Assistant 1').getByText('2 of 2').waitFor();
    // Nothing but the end of another request lets it go.
    await lane('Assistant').getByText('when a request ends').waitFor();
    await lane('Assistant').getByText('Limited by 2 concurrent requests on endpoint Assistant 1').waitFor();
    await story.inspect('live');
    held.leave();
    await lane('Assistant')
      .getByText(/waiting/)
      .first()
      .waitFor({ state: 'detached' });
    await endpoint('Assistant', 'Assistant 1').getByText('2 of 2').waitFor();
  });

  it('a request that finds no capacity in time counts as rejected in its lane', async () => {
    held.hold('triage', 1);
    await lane('Triage').getByText('1 in flight').first().waitFor();
    held.hold('triage', 1);
    const rejected = lane('Triage').getByRole('link', { name: '1 rejected in 1 min' });
    await rejected.waitFor();
    assert.match(
      (await rejected.getAttribute('href')) ?? '',
      /^\/console\/requests\?state=failed&range=15m&lane=/,
    );
  });

  it('the wall screen shows the board alone, and Escape leaves it', async () => {
    await story.button('Wall screen').click();
    const wall = story.page.getByRole('dialog', { name: 'Wall screen' });
    await wall.getByText('longest wait', { exact: true }).waitFor();
    await wall.getByRole('heading', { name: 'Assistant', exact: true }).waitFor();
    assert.equal(await wall.getByRole('searchbox').count(), 0);
    assert.match((await story.page.evaluate<string>('document.activeElement?.textContent')) ?? '', /^Exit/);
    await story.inspect('live, wall screen');
    await story.page.keyboard.press('Escape');
    await wall.waitFor({ state: 'detached' });
  });

  it('what has ended stands beside it and opens', async () => {
    const link = story.page.getByRole('link', { name: 'assistant', exact: true }).first();
    await link.waitFor();
    assert.match((await link.getAttribute('href')) ?? '', /^\/console\/requests\/[0-9a-f-]{36}/);
  });

  it('an endpoint that answers 429 is rate-limited for as long as it says, and the next takes over', async () => {
    story.site.provider.script({
      match: { model: 'sim-chat-b' },
      fault: { status: 429, retryAfter: '50' },
    });
    held.hold('search', 1);
    const first = endpoint('Search', 'Search 1').getByText(/^Rate-limited, \d+ s left$/);
    await first.waitFor();
    const said = secondsIn(await first.textContent());
    assert.ok(said > 30 && said <= 50, `${said} s`);
    await endpoint('Search', 'Search 2').getByText('This lane: 1 in flight').waitFor();
    await lane('Search').getByText('1 fallback in 1 min').waitFor();
    const isLess = async () => secondsIn(await first.textContent()) < said;
    assert.ok(await until(isLess, 10_000), 'it does not count down');
  });

  it('paused, nothing changes; resumed, everything is as it is', async () => {
    await story.button('Pause').click();
    await story.page.getByText(/^Paused at/).waitFor();
    const shown = await lane('Search').textContent();
    held.end();
    await untilOver(story.site);
    // The strip above it continues.
    await story.page.getByRole('link', { name: /^In flight 0$/ }).waitFor();
    assert.equal(await lane('Search').textContent(), shown);
    await lane('Assistant').getByText('2 in flight').first().waitFor();
    await story.button('Resume').click();
    await lane('Assistant').getByText('idle', { exact: true }).waitFor();
    await story.page.getByText('Cancelled').first().waitFor();
  });

  it('what fell back says from where to where, why and at what cost, and opens', async () => {
    const row = story.page
      .getByRole('table', { name: 'Fallbacks, last 5 minutes' })
      .getByRole('row')
      .filter({ hasText: 'search' });
    await row.waitFor();
    const cells = await row.getByRole('cell').allInnerTexts();
    assert.match(cells.join(' | '), /Search 1\s+→.*Search 2/s);
    // A held request stalls the body of the 429 as well, so Relay gave it up.
    assert.equal(cells[3], 'Provider timed out', cells.join(' | '));
    assert.match(cells[4] ?? '', /^[\d.]+ m?s$/);
    const href = await row.getByRole('link', { name: 'search', exact: true }).getAttribute('href');
    assert.match(href ?? '', /^\/console\/requests\/[0-9a-f-]{36}/);
    await story.inspect('live, fallbacks');
  });

  it('while the server is away it says so and keeps what it knew, then goes on by itself', async () => {
    await story.page.route('**/api/relay/live', (route) => route.abort());
    await story.page.getByText('Reconnecting…').waitFor();
    await endpoint('Search', 'Search 1')
      .getByText(/^Rate-limited/)
      .waitFor();
    await story.inspect('live, reconnecting');
    await story.page.unroute('**/api/relay/live');
    await story.page.getByText('Reconnecting…').waitFor({ state: 'detached' });
  });

  it('of a hundred lanes those with something in them come first, and any is found', async () => {
    for (let from = 0; from < QUIET_LANES; from += 14)
      await Promise.all(
        Array.from({ length: 14 }, (_, index) =>
          story.site.admin.create('/api/relay/routing-lanes', {
            name: `Area ${from + index}`,
            default_max_wait_ms: 0,
          }),
        ),
      );
    held.hold('assistant', 1);
    await story.page.reload();
    await lane('Assistant').getByText('1 in flight').first().waitFor();
    const headings = story.page.locator('main').getByRole('heading', { level: 3 });
    // Its place depends on how long ago it rejected a request.
    const names = (await headings.allTextContents()).filter((name) => name !== 'Triage');
    // Which of the two comes first depends on whether the cooldown of the other is over.
    assert.deepEqual([...names.slice(0, 2).toSorted(), names[2]], ['Assistant', 'Search', 'Area 0']);
    assert.equal(names.length, QUIET_LANES + 2);
    await lane('Area 97').waitFor();
    await story.page.getByLabel('Search lanes and endpoints').fill('area 97');
    await lane('Assistant').waitFor({ state: 'detached' });
    assert.match(story.page.url(), /q=area/);
    await story.page.getByLabel('Search lanes and endpoints').fill('nothing like it');
    await story.button('Clear filters').click();
    await lane('Assistant').waitFor();
  });

  it('a viewer sees what everybody has under way, a developer what is their own', async () => {
    for (const role of ['viewer', 'developer'] as const) {
      const email = await addMember(story.site, role);
      const theirs = await story.open('dark', 390);
      await signInWithPassword(theirs, email, PASSWORD);
      await theirs.goto('/console/live');
      if (role === 'viewer') {
        await laneIn(theirs, 'Assistant').getByText('1 of 2').waitFor();
        await story.inspect('live, viewer', theirs);
      } else {
        await theirs.getByText('You see only your own requests.').waitFor();
        assert.equal(await theirs.getByText('1 of 2').count(), 0);
        await theirs.goto('/console/home');
        await theirs.getByText('You see only your own requests and spend.').waitFor();
      }
      await theirs.context().close();
    }
  });

  it('nothing on the way hurt accessibility, the policy of the page, or the browser', () =>
    story.assertNothingFound());
});

function secondsIn(text: string | null): number {
  return Number(/(\d+) s left$/.exec(text ?? '')?.[1]);
}

/** Waits until no request is in flight, whatever the page shows. */
async function untilOver(site: {
  admin: { call(method: string, path: string): Promise<{ body: unknown }> };
}) {
  const isOver = await until(async () => {
    const { body } = await site.admin.call('GET', '/api/relay/live');
    const { lanes } = body as { lanes: { waiting: number; in_flight: number }[] };
    return lanes.every(({ waiting, in_flight: inFlight }) => waiting + inFlight === 0);
  }, 30_000);
  assert.ok(isOver, 'requests stay under way after their clients have left');
}
