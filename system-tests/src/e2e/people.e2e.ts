import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { codeOf } from '../harness/authenticator.ts';
import { hostedPeople } from './hosted-people.ts';
import { openStory } from './open-story.ts';
import { inviteLink, PASSWORD } from './people.ts';
import { signInWithPassword, signInWithToken } from './sign-in.ts';

const EMAIL = 'dora@example.com';
const NEW_PASSWORD = 'another horse, another staple';

/** A member joins, works, protects the account and leaves; each step builds on those before it. */
describe('people', () => {
  const story = openStory();
  let dora: Page;
  before(() => signInWithToken(story.page, story.site.adminToken));

  const menuOf = async (name: string, item: string) => {
    await story.button(`More actions: ${name}`).click();
    await story.page.getByRole('menuitem', { name: item, exact: true }).click();
  };

  it('somebody is invited by a link that is shown once, and joins with it in another browser', async () => {
    await story.toPage('Members');
    await story.button('Invite member').first().click();
    await story.page.getByLabel('Email').fill(EMAIL);
    await story.page.getByRole('radio', { name: /^Developer/ }).check();
    await story.inspect('members, inviting');
    await story.button('Create invitation').click();
    const link = (await story.page.getByTestId('invitation-link').textContent()) ?? '';
    await story.page.keyboard.press('Escape');
    await story.inspect('members, link');
    await story.button('Done').click();
    const secret = link.split('#token=')[1] ?? '';
    assert.ok(secret.length > 30 && !(await story.page.content()).includes(secret));
    await story.page.getByRole('row', { name: /dora.*Pending/ }).waitFor();

    dora = await story.open('light', 1440);
    await dora.goto(link);
    await dora.waitForURL('**/console/accept-invitation');
    await dora.getByLabel('Your name').fill('Dora');
    await dora.getByLabel('Password').fill(PASSWORD);
    await story.inspect('accept-invitation', dora);
    await dora.getByRole('button', { name: 'Join organization' }).click();
    await dora.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Members' }).click();
    await dora.getByRole('row', { name: /Dora.*You.*Developer/ }).waitFor();
    assert.equal(await dora.getByRole('button', { name: /^(Invite|Withdraw)/ }).count(), 0);
    await dora.getByRole('button', { name: /^More actions/ }).click();
    assert.deepEqual(await dora.getByRole('menuitem').allTextContents(), ['Leave']);
    await dora.keyboard.press('Escape');

    await story.page.reload({ waitUntil: 'networkidle' });
    await story.page.getByRole('row', { name: /Dora.*Developer.*Active/ }).waitFor();
    assert.equal(await story.page.getByRole('table', { name: 'Invitations' }).count(), 0);
    await story.inspect('members');
  });

  it('an invitation that was withdrawn opens nothing, and one that is open is not made twice', async () => {
    const link = await inviteLink(story.site, 'late@example.com', 'viewer');
    await story.page.reload();
    await story.button('Withdraw: late@example.com').waitFor();
    await story.button('Invite member').first().click();
    await story.page.getByLabel('Email').fill('late@example.com');
    await story.button('Create invitation').click();
    await story.page.getByRole('alert').getByText('is still open').waitFor();
    await story.button('Cancel').click();
    await story.button('Withdraw: late@example.com').click();
    await story.button('Withdraw invitation').click();
    await story.page.getByText('Invitation for late@example.com withdrawn').waitFor();
    const late = await story.open('light', 390);
    await late.goto(link);
    await late.getByLabel('Your name').fill('Late');
    await late.getByLabel('Password').fill(PASSWORD);
    await late.getByRole('button', { name: 'Join organization' }).click();
    await late.getByRole('alert').getByText('not_found').waitFor();
    await late.context().close();
  });

  it('another role is another console, and what it may not read names the missing scope', async () => {
    await menuOf('Dora', 'Change role');
    await story.page.getByRole('radio', { name: /^Billing/ }).check();
    await story.inspect('members, role');
    await story.button('Save changes').click();
    await story.page.getByText('Dora’s role changed to Billing').waitFor();
    await dora.goto('/console/providers');
    const card = dora.getByRole('alert');
    await card.getByText('You don’t have access.').waitFor();
    await card.getByText('relay:providers:read').waitFor();
    await story.inspect('providers, forbidden', dora);
    const pages = dora.getByRole('navigation', { name: 'Pages' });
    await pages.getByRole('link', { name: 'Members' }).waitFor();
    assert.equal(await pages.getByRole('link', { name: 'Providers' }).count(), 0);
  });

  it('who cannot send requests is offered the key that their role can make, as the form opens', async () => {
    await dora.goto('/console/keys');
    await dora.getByRole('button', { name: 'Create key' }).click();
    const dialog = dora.getByRole('dialog');
    await dialog.getByText('Your role can’t send requests.').waitFor();
    await dialog.getByLabel('Name', { exact: true }).fill('Reader');
    await dialog.getByText('More options').click();
    assert.equal(await dialog.getByRole('button', { name: 'Send requests only' }).count(), 0);
    await story.inspect('keys, creating as billing', dora);
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dora.getByText(/rly_/).first().waitFor();
    const keys = (await story.site.admin.call('GET', '/api/org/api-keys')).body as {
      name: string;
      scopes: string[];
    }[];
    const made = keys.find(({ name }) => name === 'Reader');
    assert.ok(made?.scopes.includes('relay:usage:read') && !made.scopes.includes('relay:request'));
    await dora.goto('/console/members');
  });

  it('somebody renames themselves, and changes their password with the one they have', async () => {
    await dora.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Settings' }).click();
    await dora.getByLabel('Name', { exact: true }).fill('Dora Richter');
    await dora.getByRole('button', { name: 'Save' }).click();
    await dora.getByRole('button', { name: 'Dora Richter' }).waitFor();
    await story.inspect('settings', dora);
    await section(dora, 'Security');
    await dora.getByLabel('Current password').fill('wrong');
    await dora.getByLabel('New password').fill(NEW_PASSWORD);
    await dora.getByRole('button', { name: 'Change password' }).click();
    await dora.getByRole('alert').waitFor();
    assert.equal(await dora.getByLabel('Current password').getAttribute('aria-invalid'), 'true');
    await dora.getByLabel('Current password').fill(PASSWORD);
    await dora.getByRole('button', { name: 'Change password' }).click();
    await dora.getByText('Password changed; other sessions ended').waitFor();
  });

  let phone: Page;
  it('a session is ended from another, which then has to sign in', async () => {
    phone = await story.open('dark', 390);
    await signInWithPassword(phone, EMAIL, NEW_PASSWORD);
    await dora.reload();
    const end = dora.getByRole('button', { name: /^End session/ });
    await end.waitFor();
    await story.inspect('settings, security', dora);
    await end.click();
    await dora.getByText('Session ended').waitFor();
    await end.waitFor({ state: 'detached' });
    await phone.getByRole('button', { name: 'Open navigation' }).click();
    await phone.getByRole('link', { name: 'Members' }).click();
    await phone.getByRole('heading', { name: 'Sign in to Relay' }).waitFor();
  });

  it('a second factor is set up, and signing in then asks for its code', async () => {
    await dora.getByRole('button', { name: 'Set up two-factor' }).click();
    await dora.getByLabel('Your password').fill(NEW_PASSWORD);
    await dora.getByRole('button', { name: 'Continue' }).click();
    await dora.getByRole('img', { name: /QR code/ }).waitFor();
    const secret = (await dora.getByText(/^([A-Z2-7]{1,4} ?){8,}$/).textContent()) ?? '';
    const uri = `otpauth://totp/Relay?secret=${secret.replaceAll(' ', '')}`;
    await story.inspect('second factor', dora);
    await dora.getByLabel('Authenticator code').fill(codeOf(uri));
    await dora.getByRole('button', { name: 'Enable two-factor' }).click();
    const codes = dora.getByRole('list', { name: 'Backup codes' }).getByRole('listitem');
    await codes.first().waitFor();
    assert.equal(await codes.count(), 10);
    await dora.keyboard.press('Escape');
    assert.equal(await dora.getByRole('button', { name: 'Done' }).isDisabled(), true);
    const [backup = ''] = await codes.allTextContents();
    await story.inspect('backup codes', dora);
    await dora.getByLabel('I saved these codes').check();
    await dora.getByRole('button', { name: 'Done' }).click();
    await dora.getByRole('button', { name: 'Disable two-factor' }).waitFor();

    for (const code of [codeOf(uri, 1), backup]) {
      const other = await story.open('light', 390);
      await other.goto('/console/settings?section=security');
      await other.getByLabel('Email').fill(EMAIL);
      await other.getByLabel('Password').fill(NEW_PASSWORD);
      await other.getByRole('button', { name: 'Sign in', exact: true }).click();
      await other.getByLabel('Authenticator code').fill(code);
      if (code === backup) await story.inspect('sign-in, code', other);
      await other.getByRole('button', { name: 'Sign in', exact: true }).click();
      await other.getByText('This browser').waitFor();
      await other.context().close();
    }
    await dora.getByRole('button', { name: 'Disable two-factor' }).click();
    await dora.getByLabel('Your password').fill(NEW_PASSWORD);
    await dora.getByRole('button', { name: 'Disable two-factor' }).last().click();
    await dora.getByRole('button', { name: 'Set up two-factor' }).waitFor();
  });

  it('a theme holds in its browser, and what the interface keeps holds everywhere', async () => {
    await section(dora, 'Preferences');
    await dora.getByText('Dark', { exact: true }).click();
    await dora.getByRole('switch', { name: /Product news/ }).click();
    await dora.getByText('Preference saved').waitFor();
    await dora.reload();
    await dora.locator('html[data-theme=dark]').waitFor();
    assert.equal(await dora.getByRole('switch', { name: /Product news/ }).isChecked(), true);
    await story.inspect('settings, preferences', dora);
    await dora.getByRole('button', { name: 'Theme' }).click();
    await dora.getByRole('menuitemradio', { name: 'Light' }).click();
    await dora.locator('html[data-theme=light]').waitFor();
    assert.equal(await dora.getByRole('radio', { name: 'Light' }).isChecked(), true);
    await section(dora, 'Organization');
    await dora.getByText('Admin token').waitFor();
    await story.inspect('settings, organization', dora);
  });

  it('a key that is rotated keeps its budgets, and the old one works on until it is revoked', async () => {
    const { key } = (await story.site.admin.create('/api/account/api-keys', {
      name: 'Support bot',
      scopes: ['relay:request'],
    })) as unknown as { key: { id: string } };
    await story.site.admin.call('POST', '/api/relay/api-key-limit-policies', {
      api_key_uuid: key.id,
      target_type: 'global',
      metric: 'spend',
      period: 'month',
      limit_value: 25_000_000,
    });
    await story.toPage('API keys');
    await story.page.getByText('of $25.00').filter({ visible: true }).waitFor();
    await menuOf('Support bot', 'Rotate');
    await story.button('Rotate key').click();
    const secret = (await story.page.getByTestId('new-key').textContent()) ?? '';
    await story.page.getByLabel('I saved this key').check();
    await story.button('Done').click();
    await story.page.getByText('of $25.00').filter({ visible: true }).nth(1).waitFor();
    const answer = await fetch(`${story.site.url}/v1/models`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    assert.equal(answer.status, 200);
    const { body } = await story.site.admin.call('GET', '/api/relay/api-key-limit-policies');
    const { policies } = body as { policies: { api_key_uuid: string; limit_value: number }[] };
    assert.deepEqual(
      policies.map(({ limit_value: limit }) => limit),
      [25_000_000, 25_000_000],
    );
    assert.equal(new Set(policies.map(({ api_key_uuid: id }) => id)).size, 2);
  });

  it('whoever answers for the organization makes keys for members, and revokes any', async () => {
    await story.button('Create key').click();
    await story.page.getByRole('textbox', { name: 'Name', exact: true }).fill('Report');
    await story.page.getByLabel('Owner').selectOption({ label: `Dora Richter · ${EMAIL}` });
    await story.page.getByText('More options').click();
    await story.page.getByRole('checkbox', { name: 'relay:request' }).uncheck();
    await story.page.getByRole('checkbox', { name: 'relay:usage:read', exact: true }).check();
    await story.button('Create key').last().click();
    await story.page.getByLabel('I saved this key').check();
    await story.button('Done').click();
    await story.page.getByRole('row', { name: /Report.*Dora Richter/ }).waitFor();
    await story.inspect('keys, organization');
    await story.button(/^Mine/).click();
    await story.page.getByRole('row', { name: /Report/ }).waitFor({ state: 'detached' });
    await story.button(/^All/).click();
    await dora.goto('/console/keys');
    await dora.getByRole('row', { name: /Report/ }).waitFor();
    assert.equal(await dora.getByRole('button', { name: /^Mine/ }).count(), 0);
    await menuOf('Report', 'Revoke');
    await story.button('Revoke key').click();
    await story.page.getByText('Key Report revoked').waitFor();
  });

  it('who leaves by themselves comes back with a new invitation and their password', async () => {
    await dora.goto('/console/settings');
    await section(dora, 'Organization');
    const leave = dora.getByRole('button', { name: 'Leave', exact: true });
    await leave.click();
    await dora.getByRole('dialog').getByRole('button', { name: 'Leave organization' }).click();
    await dora.getByRole('heading', { name: 'Sign in to Relay' }).waitFor();
    await dora.goto(await inviteLink(story.site, EMAIL, 'billing'));
    await dora.getByRole('button', { name: 'I have an account' }).click();
    await dora.getByLabel('Password').fill(NEW_PASSWORD);
    await story.inspect('accept-invitation, with an account', dora);
    await dora.getByRole('button', { name: 'Join organization' }).click();
    await dora.getByRole('navigation', { name: 'Pages' }).waitFor();
  });

  it('who is removed is signed out, and the next person in the same browser sees nothing of theirs', async () => {
    await story.toPage('Members');
    await menuOf('Dora Richter', 'Remove');
    await story.button('Remove member').click();
    await story.page.getByText('Member Dora Richter removed').waitFor();
    await dora.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Members' }).click();
    await dora.getByRole('heading', { name: 'Sign in to Relay' }).waitFor();
    await dora.getByRole('button', { name: 'Sign in with the admin token' }).click();
    await dora.getByLabel('Admin token').fill(story.site.adminToken);
    await dora.getByRole('button', { name: 'Sign in', exact: true }).click();
    await dora.getByRole('button', { name: 'Invite member' }).first().waitFor();
    assert.equal(await dora.getByRole('row', { name: /You/ }).count(), 0, 'the admin token is not a member');
    assert.equal(await dora.getByText('Dora').count(), 0);
  });

  hostedPeople(story);

  it('nothing on the way hurt accessibility, the policy of the page, or the browser', () =>
    story.assertNothingFound());
});

const section = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name }).click();
