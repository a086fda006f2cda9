import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Deployment } from '../harness/deployment.ts';
import { type SmtpProcess, startSmtp } from '../harness/smtp-process.ts';
import { startConsoleSite } from './console-site.ts';
import { openStory } from './open-story.ts';
import { PASSWORD } from './people.ts';

/** A new organization in a hosted deployment that sends mail. The stories of billing and people sign up without it. */
describe('signing up with mail', () => {
  const story = openStory();
  let smtp: SmtpProcess;
  let hosted: Deployment;
  before(async () => {
    smtp = await startSmtp();
    hosted = await startConsoleSite({
      RELAY_MODE: 'hosted',
      RELAY_API_TOKEN: '',
      RELAY_ADMIN_TOKEN: '',
      RELAY_SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
      RELAY_MAIL_FROM: 'Relay <relay@example.com>',
      RELAY_PUBLIC_URL: 'https://relay.example.com',
    });
  });
  after(async () => {
    await hosted?.stop();
    await smtp?.kill();
  });

  it('begins with a link, and says the same for an address that has an account', async () => {
    const email = 'ada@example.com';
    const page = await story.open('light', 1440, hosted.url);
    const request = async () => {
      await page.goto('/');
      await page.getByRole('button', { name: 'Create an organization' }).click();
      await page.getByLabel('Email').fill(email);
      await story.inspect('sign-up, with mail', page);
      await page.getByRole('button', { name: 'Send link' }).click();
      await page.getByText(`Relay sent a link to ${email}`).waitFor();
    };
    await request();
    await story.inspect('sign-up, sent', page);
    const { text } = await smtp.next(email, /^Finish signing up for Relay$/);
    const link = new URL(/^https:\S+$/m.exec(text)?.[0] ?? '');
    await page.goto(link.pathname + link.hash);
    await page.getByLabel('Organization name').fill('Acme');
    await page.getByLabel('Your name').fill('Ada');
    assert.equal(await page.getByLabel('Email').inputValue(), email);
    assert.ok(!page.url().includes('token'), page.url());
    await page.getByLabel('Password').fill(PASSWORD);
    await story.inspect('sign-up, from the link', page);
    await page.getByRole('button', { name: 'Create organization', exact: true }).click();
    await page.getByText('Acme').first().waitFor();

    await page.context().clearCookies();
    await request();
    await smtp.next(email, /^You already have a Relay account$/);
    await page.goto('/console/sign-up');
    await page.getByText('This link is incomplete').waitFor();
    await page.context().close();
  });
});
