import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Deployment } from '../harness/deployment.ts';
import { type SmtpProcess, startSmtp } from '../harness/smtp-process.ts';
import { startConsoleSite } from './console-site.ts';
import { openStory } from './open-story.ts';
import { addMember, PASSWORD } from './people.ts';
import { signInWithPassword, signInWithToken } from './sign-in.ts';

const NEXT = 'another horse, another battery';

/** Someone has forgotten the password: with a mail server, and without one. */
describe('a forgotten password', () => {
  const story = openStory();
  let smtp: SmtpProcess;
  let mailed: Deployment;
  before(async () => {
    smtp = await startSmtp();
    mailed = await startConsoleSite({
      RELAY_SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
      RELAY_MAIL_FROM: 'Relay <relay@example.com>',
      RELAY_PUBLIC_URL: 'https://relay.example.com',
    });
  });
  after(async () => {
    await mailed?.stop();
    await smtp?.kill();
  });

  it('is reset with a link from a message, once', async () => {
    const email = await addMember(mailed, 'viewer');
    const page = await story.open('light', 1440, mailed.url);
    await page.goto('/');
    await page.getByLabel('Email').waitFor();
    await story.inspect('sign-in, with mail', page);
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByLabel('Email').fill(email);
    await story.inspect('forgot-password', page);
    await page.getByRole('button', { name: 'Send link' }).click();
    await page.getByText(`If ${email} has an account with a password`).waitFor();
    await story.inspect('forgot-password, sent', page);

    const mail = await smtp.next(email, /^Reset your Relay password$/);
    const link = new URL(/^https:\S+$/m.exec(mail.text)?.[0] ?? '');
    await page.goto(link.pathname + link.hash);
    await page.getByLabel('New password').fill(NEXT);
    assert.ok(!page.url().includes('token'), page.url());
    await story.inspect('reset-password', page);
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText('Password changed.').waitFor();
    await story.inspect('reset-password, done', page);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await signInWithPassword(page, email, NEXT);

    const other = await story.open('dark', 390, mailed.url);
    await other.goto(link.pathname + link.hash);
    await other.getByLabel('New password').fill(PASSWORD);
    await other.getByRole('button', { name: 'Set password' }).click();
    await other.getByText('This link doesn’t work').waitFor();
    await story.inspect('reset-password, used link', other);
    await other.getByRole('link', { name: 'Request another link' }).click();
    await other.getByRole('button', { name: 'Send link' }).waitFor();
    await other.goto('/console/reset-password');
    await other.getByText('This link is incomplete').waitFor();
    await other.context().close();
    await page.context().close();
  });

  it('is a matter of the operator where no mail server is set up', async () => {
    const { page } = story;
    await page.goto('/');
    await page.getByText('Forgot your password?').click();
    await page.getByText('relay users reset-password EMAIL').waitFor();
    await story.inspect('sign-in, without mail');
    assert.equal(await page.getByRole('link', { name: 'Forgot your password?' }).count(), 0);
    await page.goto('/console/forgot-password');
    await page.getByText('This deployment sends no email').waitFor();
    await story.inspect('forgot-password, without mail');
  });

  it('an invitation says whether it was sent', async () => {
    for (const [site, said] of [
      [story.site, 'This deployment sends no email. Share the link yourself.'],
      [mailed, 'Relay is sending the link to dora@example.com.'],
    ] as const) {
      const page = await story.open('light', 1440, site.url);
      await signInWithToken(page, site.adminToken);
      await page.goto('/console/members');
      await page.getByRole('button', { name: 'Invite member', exact: true }).first().click();
      await page.getByLabel('Email').fill('dora@example.com');
      await page.getByRole('button', { name: 'Create invitation' }).click();
      await page.getByText(said).waitFor();
      await story.inspect(`invitation, ${said}`, page);
      await page.context().close();
    }
  });

  it('nothing on the way was wrong', () => story.assertNothingFound());
});
