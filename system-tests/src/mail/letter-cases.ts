import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { createBrowser } from '../harness/browser.ts';
import { check, demand, PASSWORD, PUBLIC_URL, type Site, tokenIn } from './site.ts';

const INVITATION = /^Invitation to /;
const ALERT = /^New sign-in to Relay$/;
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';
const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36';

/** Invitations and alerts, and what people can put into them. */
export function letterCases(of: () => Site): void {
  const invite = async (email: string, more?: Record<string, string>) =>
    of().send(
      await of().owner(),
      of().newAddress(),
      'POST',
      '/api/org/invitations',
      { email, role: 'viewer' },
      more,
    );
  const withdraw = async (id: string) =>
    of().send(await of().owner(), of().newAddress(), 'DELETE', `/api/org/invitations/${id}`);
  const idOf = (body: Record<string, unknown>) => (body['invitation'] as { id: string }).id;

  check('an invitation is sent with its link, and the response says so', async () => {
    const { body } = demand(await invite('newcomer@example.com'), 201);
    assert.equal(body['email_delivery'], 'queued');
    const mail = await of().smtp.next('newcomer@example.com', INVITATION);
    assert.ok(mail.text.includes(String(body['accept_url'])));
    assert.equal(mail.headers.get('auto-submitted'), 'auto-generated');
    assert.deepEqual(
      [mail.html.match(/<img|src=|<script|<link/g), mail.html.includes('token=')],
      [null, true],
    );
    const token = tokenIn(mail.text);
    const joining = { token, name: 'Newcomer', password: PASSWORD };
    demand(
      await of().send(createBrowser(), of().newAddress(), 'POST', '/api/invitations/accept', joining),
      201,
    );
  });

  check('no name or address adds a header, a recipient, markup or a link', async () => {
    for (const email of [
      'a@example.com\r\nBcc: victim@example.com',
      'a@example.com, victim@example.com',
      'a@example.com>\r\nRCPT TO:<victim@example.com',
      'Name <a@example.com>',
    ])
      assert.equal((await invite(email)).status, 400, email);
    const organization = 'Acme\r\nBcc: victim@example.com\r\n\r\n<img src=x> "Ltd"';
    await of().accounts.query(
      `update organizations set name = $1 where id in
         (select organization_id from organization_members where user_id = $2)`,
      [organization, (await ownerSession(of())).id],
    );
    const { body } = demand(await invite('plain@example.com'), 201);
    const mail = await of().smtp.next('plain@example.com', INVITATION);
    assert.deepEqual([mail.to, mail.headers.get('bcc')], [['plain@example.com'], undefined]);
    assert.ok(!mail.html.includes('<img'));
    await of().accounts.query(
      `update organizations set name = 'Win at https://evil.example now' where name = $1`,
      [organization],
    );
    demand(await withdraw(idOf(body)), 204);
    demand(await invite('plain@example.com'), 201);
    const linked = await of().smtp.next('plain@example.com', INVITATION);
    assert.ok(!linked.raw.includes('evil') && linked.subject.includes('an organization'));
    assert.ok(!of().smtp.messages.some(({ to }) => to.includes('victim@example.com')));
    await of().accounts.query(`update organizations set name = 'Acme' where name like 'Win at%'`);
  });

  check('inviting again and again sends five messages a day to one mailbox', async () => {
    const told: unknown[] = [];
    for (let index = 0; index < 7; index += 1) {
      const { body } = demand(await invite('flooded@example.com'), 201);
      told.push(body['email_delivery']);
      demand(await withdraw(idOf(body)), 204);
    }
    assert.deepEqual(told, [...Array<string>(5).fill('queued'), 'rejected', 'rejected']);
    for (let index = 0; index < 5; index += 1) await of().smtp.next('flooded@example.com', INVITATION);
    assert.equal(of().smtp.countTo('flooded@example.com', INVITATION), 5);
  });

  check('a forged Host header changes no link', async () => {
    const { email } = await of().join('Hosted');
    for (const headers of [
      { host: 'evil.example' },
      { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http', forwarded: 'host=evil.example' },
    ]) {
      await rawPost(of().deployment.url, '/api/session/password-reset', { email }, headers);
      const mail = await of().smtp.next(email, /^Reset/);
      assert.ok(
        !mail.raw.includes('evil') && mail.text.includes(`${PUBLIC_URL}/console/reset-password#token=`),
      );
    }
  });

  check('a sign-in from a new address or browser is told once, the first one not at all', async () => {
    const person = await of().join('Traveler');
    const from = (address: string, agent: string) =>
      of().signIn(person.email, address, {}, { 'user-agent': agent });
    demand(await from(person.address, FIREFOX), 201);
    const browserAlert = await of().smtp.next(person.email, ALERT);
    assert.match(browserAlert.text, /Browser: Firefox on Linux/);
    const elsewhere = of().newAddress();
    demand(await from(elsewhere, FIREFOX), 201);
    const addressAlert = await of().smtp.next(person.email, ALERT);
    assert.ok(addressAlert.text.includes(`IP address: ${elsewhere}\n`));
    assert.ok(addressAlert.text.includes(`${PUBLIC_URL}/console/settings`));
    demand(await from(elsewhere, FIREFOX.replaceAll('145', '146')), 201);
    demand(await from(person.address, FIREFOX), 201);
    // A fourth sign-in that is news again shows that those between were not.
    demand(await from(elsewhere, `<b>https://evil.example</b> ${CHROME}`), 201);
    const last = await of().smtp.next(person.email, ALERT);
    assert.ok(last.text.includes('Browser: Chrome on Windows') && !last.raw.includes('evil'));
    assert.equal(of().smtp.countTo(person.email, ALERT), 3);
  });
}

async function ownerSession(site: Site): Promise<{ id: string }> {
  const answer = await site.send(await site.owner(), site.newAddress(), 'GET', '/api/session');
  return answer.body['user'] as { id: string };
}

/** With headers that `fetch` would not send. */
function rawPost(url: string, path: string, body: object, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
    });
    sent.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });
}
