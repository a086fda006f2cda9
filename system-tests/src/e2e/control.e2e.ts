import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, describe, it } from 'node:test';
import { readYaml } from '@relay/contract/config-text';
import type { Locator, Page } from 'playwright-core';
import { createLane } from '../harness/admin-client.ts';
import type { Deployment } from '../harness/deployment.ts';
import { until } from '../harness/until.ts';
import { hostedBilling } from './hosted-billing.ts';
import { openStory } from './open-story.ts';
import { addMember, PASSWORD } from './people.ts';
import { seedTraffic } from './seed-traffic.ts';
import { signInWithPassword, signInWithToken } from './sign-in.ts';

const REQUESTS = 9;
const LEDGER_MS_MAX = 30_000;

/** A file with a secret that the deployment does not have. */
const WITH_SECRET = {
  version: 1,
  providers: [{ slug: 'extra', name: 'Extra', base_url: 'https://example.com/v1' }],
  credentials: [{ provider: 'extra', name: 'main', secret_ref: 'env:EXTRA_KEY' }],
};

/** The audit log, the configuration file, and billing. */
describe('control', () => {
  let laneId = '';
  const story = openStory(async (site) => {
    laneId = await setUp(site);
  });
  before(() => signInWithToken(story.page, story.site.adminToken));

  it('a change is told field by field, with who, when, the request, and the way to what was changed', async () => {
    const changed = await story.site.admin.call('PUT', `/api/relay/routing-lanes/${laneId}`, {
      name: 'Assistant',
      default_max_wait_ms: 6_000,
      allow_fallback: true,
      enabled: true,
    });
    assert.equal(changed.status, 200);
    await story.toPage('Audit log');
    await story.page
      .getByRole('row', { name: /Changed lane.*Assistant.*Wait budget 5 s → 6 s.*Admin token/ })
      .waitFor();
    await story.inspect('audit');
    await story.page.getByRole('link', { name: 'Changed lane' }).click();
    const entry = story.page.getByRole('dialog', { name: 'Changed lane: Assistant' });
    await entry.getByText('Request ID').waitFor();
    assert.deepEqual(await changesIn(entry), ['Wait budget: 5 s → 6 s']);
    await entry.getByText(changed.headers.get('x-request-id') ?? 'no request id').waitFor();
    await entry.getByRole('button', { name: 'Copy request ID' }).waitFor();
    await story.inspect('audit, entry');
    await assertFits(story.page);
    // The URL opens the same entry, even if the list does not contain it.
    const address = new URL(story.page.url());
    address.searchParams.set('type', 'invitation');
    await story.page.goto(address.href);
    await entry.getByText('Request ID').waitFor();
    await entry.getByRole('link', { name: 'Assistant' }).click();
    await story.page.getByRole('heading', { name: 'Assistant', level: 1 }).waitFor();
  });

  it('the log is narrowed by who, what and on what, the address says how, and nothing yet is not nothing found', async () => {
    await story.page.goto('/console/audit');
    await story.page.getByLabel('Resource type').selectOption('provider');
    await story.page.getByRole('row', { name: /lane/ }).first().waitFor({ state: 'detached' });
    await story.page.getByRole('row', { name: /Created provider/ }).waitFor();
    await story.page.getByLabel('Action').selectOption('provider.delete');
    await story.page.getByText('No results match these filters.').waitFor();
    assert.match(story.page.url(), /type=provider&action=provider\.delete/);
    await story.inspect('audit, nothing matches');
    await story.page.getByRole('button', { name: 'Clear filters' }).last().click();
    await story.page.getByRole('row', { name: /Signed in.*127\.0\.0\.1/ }).waitFor();
    await story.page.getByLabel('Actor').selectOption({ label: 'Admin token' });
    await story.page.getByRole('row', { name: /Created lane/ }).waitFor();
    assert.match(story.page.url(), /actor=/);
    const log = '**/api/relay/audit-log?*';
    await story.page.route(log, (route) => route.fulfill({ json: { data: [], next_cursor: null } }));
    await story.page.goto('/console/audit');
    await story.page.getByText('No changes yet.').waitFor();
    await story.page.unroute(log);
  });

  it('a file that is wrong says where, and one that is too large says so in words', async () => {
    await story.page.goto('/console/configuration?view=compare');
    const file = fileOf(story.page);
    await file.fill('version: 1\nlanes: [');
    await story.button('Show plan').click();
    await story.page.getByText('is not valid YAML').waitFor();
    await file.fill('version: 1\nlanes:\n  - { name: Fast, default_max_wait_ms: soon }\n');
    await story.button('Show plan').click();
    await story.button('Line 3, column 40').click();
    assert.equal(await file.evaluate((area) => (area as { selectionStart?: number }).selectionStart), 57);
    await story.inspect('configuration, wrong');
    // Errors that only the server can find are shown at their field too.
    await file.fill(
      '{\n  "version": 1,\n  "memberships": [{ "lane": "assistant", "endpoint": "nowhere", "manual_rank": 1 }]\n}',
    );
    await story.button('Show plan').click();
    await story.button('Line 3, column 54').waitFor();
    await story.page.getByText(/names the endpoint "nowhere"/).waitFor();
    const lanes = Array.from({ length: 700 }, (_, index) => ({
      name: `x${index}`,
      description: 'y'.repeat(1_900),
    }));
    // Chosen, not typed: Chromium takes many seconds to type a megabyte into a text area.
    await story.page.locator('input[type="file"]').setInputFiles({
      name: 'relay.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify({ version: 1, lanes })),
    });
    assert.ok(
      await until(async () => (await file.inputValue()).includes('x699'), LEDGER_MS_MAX),
      'is not shown',
    );
    await story.button('Show plan').click();
    await story.page.getByText('the maximum is 1 MiB').waitFor();
  });

  it('the file is taken, one value in it changed, and the plan shows exactly that before it is done', async () => {
    await story.page.goto('/console/configuration');
    await story.page.getByText('default_max_wait_ms: 6000').waitFor();
    await story.inspect('configuration');
    const [saved] = await Promise.all([
      story.page.waitForEvent('download'),
      story.button('Download file').click(),
    ]);
    const exported = await readFile(await saved.path(), 'utf8');
    assert.deepEqual(
      readYaml(exported).value,
      (await story.site.admin.call('GET', '/api/relay/config/export')).body,
    );
    await story.button('Edit copy').click();
    const file = fileOf(story.page);
    assert.equal(await file.inputValue(), exported);
    await file.fill(exported.replace('default_max_wait_ms: 6000', 'default_max_wait_ms: 7500'));
    await story.button('Show plan').click();
    await story.page.getByRole('heading', { name: 'Plan' }).waitFor();
    assert.deepEqual(await changesIn(story.page), ['default_max_wait_ms: 6000 → 7500']);
    await story.page.getByText('1 to change').waitFor();
    await story.page.getByText('1 secret referenced by name').click();
    await story.page.getByText('env:RELAY_SECRET_ASSISTANT_1_PRIMARY').last().waitFor();
    await story.inspect('configuration, plan');
    await story.button('Apply file…').click();
    const dialog = story.page.getByRole('dialog', { name: 'Apply file?' });
    await dialog.getByText('The file then manages these resources.').waitFor();
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await story.page.getByText('No changes. The configuration matches this file.').waitFor();
    const { body } = await story.site.admin.call('GET', '/api/relay/config/export');
    assert.match(JSON.stringify(body), /"default_max_wait_ms":7500/);
    await story.toPage('Lanes');
    await story.page.getByRole('link', { name: 'Assistant' }).click();
    assert.equal(await story.page.getByLabel('Milliseconds', { exact: true }).inputValue(), '7500');
  });

  it('what the file owns is listed, and given back by a file that no longer names it', async () => {
    await story.page.goto('/console/configuration?view=owned');
    await story.page.getByRole('row', { name: /assistant.*Lane/ }).waitFor();
    await story.inspect('configuration, owned');
    await story.page.getByRole('navigation').getByRole('link', { name: 'Compare and apply' }).click();
    await fileOf(story.page).fill(JSON.stringify(WITH_SECRET));
    await story.button('Show plan').click();
    await story.page.getByText('2 to create').waitFor();
    await story.button('Apply file…').click();
    const dialog = story.page.getByRole('dialog');
    assert.ok(await dialog.getByRole('button', { name: 'Apply' }).isDisabled());
    await dialog.getByLabel('env:EXTRA_KEY').fill('sk-extra');
    await story.inspect('configuration, secrets');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await story.page.getByText('No changes. The configuration matches this file.').waitFor();
    await story.page.goto('/console/configuration?view=compare');
    await fileOf(story.page).fill('{ "version": 1 }');
    await story.page.getByLabel('Managed resources missing from the file').selectOption('release');
    await story.button('Show plan').click();
    await story.page.getByText(/\d+ to release/).waitFor();
    await story.button('Apply file…').click();
    await story.page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
    await story.page.getByText('No changes. The configuration matches this file.').waitFor();
    await story.page.goto('/console/configuration?view=owned');
    await story.page.getByText('No resources are managed by file.').waitFor();
  });

  it('self-hosted: Billing is the statement, and it has the same numbers as its CSV', async () => {
    await story.toPage('Billing');
    await story.page.getByText('Metered spend, not an invoice').waitFor();
    assert.equal(await story.page.getByRole('link', { name: 'Invoices' }).count(), 0);
    await story.page.getByRole('row', { name: new RegExp(`^Owner ${REQUESTS} `) }).waitFor();
    await story.page.getByRole('row', { name: new RegExp(`^Total ${REQUESTS} `) }).waitFor();
    const [saved] = await Promise.all([
      story.page.waitForEvent('download'),
      story.button('Download CSV').click(),
    ]);
    const [, line = ''] = (await readFile(await saved.path(), 'utf8')).split('\r\n');
    const [, basis, , , , requests] = line.split(',');
    assert.deepEqual([basis, requests], ['configured_prices', String(REQUESTS)]);
    await story.inspect('billing, statement');
    await assertFits(story.page);
    await story.button('Previous month').click();
    await story.page.getByText(/^No usage in/).waitFor();
  });

  it('a viewer reads and compares the configuration and cannot apply it, and sees neither log nor bills', async () => {
    const viewer = await addMember(story.site, 'viewer');
    const theirs = await story.open('dark', 1440);
    await signInWithPassword(theirs, viewer, PASSWORD);
    await theirs.goto('/console/configuration?view=compare');
    await fileOf(theirs).fill('{ "version": 1, "lanes": [{ "slug": "mine", "name": "Mine" }] }');
    await theirs.getByRole('button', { name: 'Show plan' }).click();
    await theirs.getByText('Applying needs relay:providers:manage').waitFor();
    await theirs.getByText('1 to create').waitFor();
    assert.equal(await theirs.getByRole('button', { name: /^Apply/ }).count(), 0);
    await story.inspect('configuration, viewer', theirs);
    await assertFits(theirs);
    const pages = theirs.getByRole('navigation', { name: 'Pages' });
    for (const name of ['Audit log', 'Billing'])
      assert.equal(await pages.getByRole('link', { name }).count(), 0, name);
    await theirs.goto('/console/audit');
    await theirs.getByText('cloud:audit:read').waitFor();
    const status = await theirs.evaluate(async () => {
      const session = (await (await fetch('/api/session')).json()) as { csrf_token: string };
      const answer = await fetch('/api/relay/config/apply', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-csrf-token': session.csrf_token },
        body: JSON.stringify({ config: { version: 1 } }),
      });
      return answer.status;
    });
    assert.equal(status, 403);
    await theirs.context().close();
  });

  hostedBilling(story);

  it('nothing on the way hurt accessibility, the policy of the page, or the browser', () =>
    story.assertNothingFound());
});

function fileOf(page: Page) {
  return page.getByLabel('Configuration file', { exact: true });
}

/** On a phone nothing is wider than the window. */
async function assertFits(page: Page): Promise<void> {
  const wide = page.viewportSize() ?? { width: 1440, height: 900 };
  await page.setViewportSize({ width: 390, height: 844 });
  const overflowPx = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  assert.equal(overflowPx, 0, page.url());
  await page.setViewportSize(wide);
}

/** Every field that a diff shows, with what it was and what it is. */
async function changesIn(place: Page | Locator): Promise<string[]> {
  const [before, after] = [place.getByRole('deletion'), place.getByRole('insertion')];
  const [was, is] = [await before.allTextContents(), await after.allTextContents()];
  const fields = await place.getByRole('term').allTextContents();
  return was.map((value, index) => `${fields[index]}: ${value} → ${is[index]}`);
}

/** A lane with a price, and requests through it that are in the ledger. */
async function setUp(site: Deployment): Promise<string> {
  const { laneId, endpointIds } = await createLane(site.admin, {
    name: 'Assistant',
    endpoints: [{ baseUrl: site.provider.baseUrl, upstreamModel: 'sim-chat' }],
  });
  await site.admin.create('/api/relay/pricing-policies', {
    endpoint_id: endpointIds[0],
    input_cost_micros_per_1m_tokens: 1_000_000,
    output_cost_micros_per_1m_tokens: 4_000_000,
  });
  await seedTraffic(site, { requests: REQUESTS, models: ['assistant'] });
  const isInTime = await until(async () => {
    const { body } = await site.admin.call('GET', '/api/billing/usage-statements');
    return (body as { totals: { requests: number } }).totals.requests >= REQUESTS;
  }, LEDGER_MS_MAX);
  assert.ok(isInTime, 'the requests did not reach the ledger in time');
  return laneId;
}
