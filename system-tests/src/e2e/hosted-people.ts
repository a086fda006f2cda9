import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { freePort } from '@relay/testbed';
import type { Page } from 'playwright-core';
import type { Deployment } from '../harness/deployment.ts';
import { CLIENT, type IdentityProvider, startIdentityProvider } from '../harness/identity-provider.ts';
import { startConsoleSite } from './console-site.ts';
import type { Story } from './open-story.ts';
import { PASSWORD } from './people.ts';

/** What only a hosted deployment has: several organizations of one person, and single sign-on for anybody. */
export function hostedPeople(story: Story): void {
  let hosted: Deployment;
  let identityProvider: IdentityProvider;
  before(async () => {
    const port = await freePort();
    hosted = await startConsoleSite({
      RELAY_MODE: 'hosted',
      RELAY_API_TOKEN: '',
      RELAY_ADMIN_TOKEN: '',
      RELAY_OIDC_ISSUER: `http://127.0.0.1:${port}`,
      RELAY_OIDC_CLIENT_ID: CLIENT.id,
      RELAY_OIDC_CLIENT_SECRET: CLIENT.secret,
    });
    identityProvider = await startIdentityProvider(port, hosted.url);
  });
  after(async () => {
    await identityProvider?.close();
    await hosted?.stop();
  });

  async function signUp(name: string, organization: string): Promise<Page> {
    const page = await story.open('light', 1440, hosted.url);
    await page.goto('/');
    await page.getByRole('button', { name: 'Create an organization' }).click();
    await page.getByLabel('Organization name').fill(organization);
    await page.getByLabel('Your name').fill(name);
    await page.getByLabel('Email').fill(`${name.toLowerCase()}@example.com`);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create organization', exact: true }).click();
    await page.getByText(organization).first().waitFor();
    return page;
  }

  it('hosted: somebody who is in two organizations goes from one to the other, and sees each alone', async () => {
    const [host, guest] = [await signUp('Host', 'Acme'), await signUp('Guest', 'Umbrella')];
    await host.goto('/console/members');
    await host.getByRole('button', { name: 'Invite member' }).click();
    await host.getByLabel('Email').fill('guest@example.com');
    await host.getByRole('radio', { name: /^Viewer/ }).check();
    await host.getByRole('button', { name: 'Create invitation' }).click();
    const link = (await host.getByTestId('invitation-link').textContent()) ?? '';

    await guest.goto(link);
    await guest.getByText('You’ll join as guest@example.com.').waitFor();
    await story.inspect('accept-invitation, signed in', guest);
    await guest.getByRole('button', { name: 'Join organization' }).click();
    const menu = (name: string) => guest.getByRole('button', { name: `Switch organization: ${name}` });
    await menu('Acme').waitFor();
    await guest.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Members' }).click();
    await guest.getByRole('row', { name: /Host.*Owner/ }).waitFor();
    assert.equal(await guest.getByRole('button', { name: 'Invite member' }).count(), 0);

    await menu('Acme').click();
    await guest.getByRole('menuitemradio', { name: 'Umbrella' }).click();
    await guest.getByRole('row', { name: /Guest.*You.*Owner/ }).waitFor();
    await guest.getByRole('button', { name: 'Invite member' }).waitFor();
    assert.equal(await guest.getByRole('row', { name: /Host/ }).count(), 0);
    await host.context().close();

    await guest.getByRole('button', { name: 'More actions: Guest' }).click();
    await guest.getByRole('menuitem', { name: 'Leave' }).click();
    await guest.getByRole('button', { name: 'Leave organization' }).click();
    await guest.getByRole('alert').getByText('last active owner').waitFor();
    await guest.context().close();
  });

  it('hosted: somebody who was removed from their only organization creates one when they sign in', async () => {
    const host = await signUp('Patron', 'Patrons');
    await host.goto('/console/members');
    await host.getByRole('button', { name: 'Invite member' }).click();
    await host.getByLabel('Email').fill('alone@example.com');
    await host.getByRole('button', { name: 'Create invitation' }).click();
    const link = (await host.getByTestId('invitation-link').textContent()) ?? '';
    const alone = await story.open('light', 1440, hosted.url);
    await alone.goto(link);
    await alone.getByLabel('Your name').fill('Alone');
    await alone.getByLabel('Password').fill(PASSWORD);
    await alone.getByRole('button', { name: 'Join organization' }).click();
    await alone.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Members' }).click();
    await alone.getByRole('button', { name: 'More actions: Alone' }).click();
    await alone.getByRole('menuitem', { name: 'Leave' }).click();
    await alone.getByRole('button', { name: 'Leave organization' }).click();
    await alone.getByLabel('Email').fill('alone@example.com');
    await alone.getByLabel('Password').fill(PASSWORD);
    await alone.getByRole('button', { name: 'Sign in', exact: true }).click();
    await alone.getByRole('alert').getByText('not a member of any organization').waitFor();
    await story.inspect('sign-in, without an organization', alone);
    await alone.getByLabel('Organization name').fill('Alone Inc');
    await alone.getByRole('button', { name: 'Create organization', exact: true }).click();
    await alone.getByText('Alone Inc').first().waitFor();
    await alone.context().close();
    await host.context().close();
  });

  it('hosted: single sign-on goes by the identity provider and comes back to the page that was asked for', async () => {
    identityProvider.person = {
      id: 'id-single',
      email: 'single@example.com',
      emailVerified: true,
      name: 'Single',
    };
    const page = await story.open('light', 1440, hosted.url);
    await page.goto('/console/settings?section=security');
    await page.getByRole('link', { name: 'Continue with single sign-on' }).click();
    await page.getByText('This browser').waitFor();
    assert.match(page.url(), /\/console\/settings\?section=security$/);
    await page.getByText('Your account has no password.').waitFor();
    await page.getByRole('button', { name: 'Single' }).waitFor();
    await page.context().close();
  });
}
