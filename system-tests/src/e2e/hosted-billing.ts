import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, it } from 'node:test';
import type { Page } from 'playwright-core';
import { storyOf } from '../harness/billing-story.ts';
import type { Deployment } from '../harness/deployment.ts';
import { type StripeEvent, signedBy } from '../harness/stripe-account.ts';
import { startConsoleSite } from './console-site.ts';
import type { Story } from './open-story.ts';
import { PASSWORD } from './people.ts';

const MONTHS = 3;

/** What only a hosted deployment has: a billing history from signed Stripe events. */
export function hostedBilling(story: Story): void {
  const secret = `whsec_${randomBytes(24).toString('base64url')}`;
  let starting: Promise<Deployment>;
  before(() => {
    // It comes up while the other tests go on; whether it did is asked where it is needed.
    starting = startConsoleSite({
      RELAY_MODE: 'hosted',
      RELAY_API_TOKEN: '',
      RELAY_ADMIN_TOKEN: '',
      RELAY_STRIPE_WEBHOOK_SECRET: secret,
    });
    starting.catch(() => {});
  });
  after(async () => {
    const started = await starting.catch(() => undefined);
    await started?.stop();
  });

  it('hosted: what Stripe has told stands in five lists, with links to invoices, and the statement apart from them', async () => {
    const hosted = await starting;
    const page = await story.open('light', 1440, hosted.url);
    await signUp(page);
    await page.goto('/console/billing');
    await page.getByText('No invoices yet.').waitFor();
    const organizationId = await page.evaluate(async () => {
      const session = (await (await fetch('/api/session')).json()) as { org: { id: string } };
      return session.org.id;
    });
    const told = storyOf(organizationId, MONTHS);
    for (const event of told.events) await deliver(hosted.url, secret, event);
    await page.reload();
    const expected = { Invoices: told.shown.invoices, Payments: told.shown.payments } as const;
    for (const [tab, records] of Object.entries(expected)) {
      await openTab(page, tab);
      await page.getByRole('table', { name: tab }).waitFor();
      await page.locator('table[aria-busy]').waitFor({ state: 'detached' });
      assert.equal(await page.getByRole('row').count(), records.length + 1, tab);
      await story.inspect(`billing, ${tab}`, page);
    }
    await openTab(page, 'Refunds');
    await page.getByRole('row', { name: /re_.*Succeeded.*duplicate.*€0\.03/ }).waitFor();
    await openTab(page, 'Disputes');
    await page.getByRole('row', { name: /du_.*Lost.*fraudulent.*€0\.02/ }).waitFor();
    await openTab(page, 'Activity');
    await page.getByRole('row', { name: /Subscription changed.*Active.*enterprise/i }).waitFor();
    assert.match(page.url(), /tab=activities/);
    await story.inspect('billing, Activity', page);
    await openTab(page, 'Invoices');
    const [invoiceId = ''] = told.shown.invoices[0] ?? [];
    const link = page.getByRole('link', { name: `View invoice N-${invoiceId.slice(-6)}` });
    assert.equal(await link.getAttribute('href'), `https://invoice.example.com/${invoiceId}`);
    await openTab(page, 'Usage statement');
    await page.getByText('Metered spend, not an invoice').waitFor();
    await page.getByText(/^No usage in/).waitFor();
    await page.context().close();
  });
}

function openTab(page: Page, name: string) {
  return page.getByRole('navigation', { name: 'Billing' }).getByRole('link', { name }).click();
}

async function signUp(page: Page): Promise<void> {
  await page.goto('/');
  await page.getByRole('button', { name: 'Create an organization' }).click();
  await page.getByLabel('Organization name').fill('Acme');
  await page.getByLabel('Your name').fill('Ada');
  await page.getByLabel('Email').fill('ada@example.com');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create organization', exact: true }).click();
  await page.getByText('Acme').first().waitFor();
}

async function deliver(url: string, secret: string, event: StripeEvent): Promise<void> {
  const { body, header } = signedBy(event, { secret });
  const response = await fetch(`${url}/api/billing/stripe-webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': header },
    body,
  });
  assert.equal(response.status, 200, await response.text());
}
