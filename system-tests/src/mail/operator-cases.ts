import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { after, before, describe } from 'node:test';
import { bareEnvironment } from '../harness/bare-environment.ts';
import { createBrowser } from '../harness/browser.ts';
import { startDeployment } from '../harness/deployment.ts';
import { RELAY_ENTRY } from '../harness/relay-entry.ts';
import { startSmtp } from '../harness/smtp-process.ts';
import { check, demand, PASSWORD, type Site, startSite, tokenIn } from './site.ts';

const NEXT = 'another horse, another battery';

function run(args: readonly string[], env: Record<string, string>) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [RELAY_ENTRY, ...args], {
    env: { ...bareEnvironment(), ...env },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

/** Deployments without a mail server, where the person who has the machine helps. */
export function operatorCases(): void {
  describe('without a mail server', () => {
    let site: Site;
    before(async () => {
      const smtp = await startSmtp({ tls: 'none' }, false);
      site = await startSite('self_hosted', { smtp, env: {}, processes: 1 });
    });
    after(() => site.stop());
    const confirm = (url: string, token: string) =>
      createBrowser().send('POST', `${url}/api/session/password-reset/confirm`, {
        token,
        new_password: NEXT,
      });

    check('the sign-in methods and the responses say that no e-mail is sent', async () => {
      const methods = await site.send(createBrowser(), site.newAddress(), 'GET', '/api/session/methods');
      assert.equal(methods.body['password_reset'], false);
      const body = { email: 'ada@example.com' };
      const asked = await site.send(
        createBrowser(),
        site.newAddress(),
        'POST',
        '/api/session/password-reset',
        body,
      );
      assert.deepEqual([asked.status, asked.code], [403, 'mail_not_configured']);
      const invitation = { email: 'ada@example.com', role: 'viewer' };
      const made = await site.send(
        await site.owner(),
        site.newAddress(),
        'POST',
        '/api/org/invitations',
        invitation,
      );
      assert.equal(demand(made, 201).body['email_delivery'], 'not_configured');
    });

    check('`relay users reset-password` prints a link that works once and ends every session', async () => {
      const person = await site.join('Locked');
      const env = {
        DATABASE_URL: site.deployment.postgres.url,
        RELAY_PUBLIC_URL: 'https://relay.example.com/',
      };
      const { status, stdout, stderr } = run(['users', 'reset-password', 'LOCKED@example.com'], env);
      assert.equal(status, 0, stderr);
      const printed = JSON.parse(stdout) as { email: string; url: string; expires_at: string };
      const token = tokenIn(printed.url);
      assert.deepEqual(
        [printed.email, printed.url],
        [person.email, `https://relay.example.com/console/reset-password#token=${token}`],
      );
      const minutes = (Date.parse(printed.expires_at) - Date.now()) / 60_000;
      assert.ok(minutes > 28 && minutes <= 30, `${minutes} minutes`);
      demand(await confirm(site.deployment.url, token), 204);
      assert.equal((await confirm(site.deployment.url, token)).status, 404);
      assert.equal((await person.browser.send('GET', `${site.deployment.url}/api/session`)).status, 401);
      assert.equal((await site.signIn(person.email, person.address, { password: NEXT })).status, 201);
      const entries = await site.accounts.query(
        `select action, actor_type from audit_log join users on users.id::text = target_id
         where email = $1 and action like 'user.%' order by audit_log.id`,
        [person.email],
      );
      assert.deepEqual(entries, [
        { action: 'user.create_password_reset', actor_type: 'system' },
        { action: 'user.reset_password', actor_type: 'user' },
      ]);
    });

    check('`--remove-second-factor` helps a user who has lost it, and is in the audit log', async () => {
      const person = await site.join('Keyless');
      const { email } = person;
      await site.accounts.query(
        `with enabled as (update users set two_factor_enabled = true where email = $1 returning id)
         insert into auth_two_factors (id, user_id, secret, backup_codes, verified)
         select gen_random_uuid(), id, 'sealed', 'sealed', true from enabled`,
        [email],
      );
      assert.equal((await site.signIn(email, person.address)).code, 'totp_required');
      const env = { DATABASE_URL: site.deployment.postgres.url };
      const { status, stderr } = run(['users', 'reset-password', email, '--remove-second-factor'], env);
      assert.equal(status, 0, stderr);
      assert.equal((await site.signIn(email, person.address)).status, 201);
      const entries = await site.accounts.query(
        `select actor_type from audit_log join users on users.id::text = target_id
         where email = $1 and action = 'user.remove_totp'`,
        [email],
      );
      assert.deepEqual(entries, [{ actor_type: 'system' }]);
    });

    check('the command says who has no account or no password', async () => {
      const env = { DATABASE_URL: site.deployment.postgres.url };
      const unknown = run(['users', 'reset-password', 'nobody@example.com'], env);
      assert.deepEqual([unknown.status, unknown.stdout], [4, '']);
      assert.match(unknown.stderr, /No user has the email address nobody@example\.com/);
      const owner = run(['users', 'reset-password', 'owner@localhost'], env);
      assert.equal(owner.status, 1);
      assert.match(owner.stderr, /has no password/);
    });
  });

  describe('a data directory of relay start', () => {
    check('gets a link while it is stopped, and says so while it runs', async () => {
      const deployment = await startDeployment({
        stores: 'embedded',
        env: { RELAY_ACCOUNTS: 'true', RELAY_AUTH_SECRET: randomBytes(24).toString('base64url') },
      });
      try {
        const { url, adminToken, dataDirectory } = deployment;
        const operator = createBrowser();
        demand(await operator.send('POST', `${url}/api/session`, { token: adminToken }), 201);
        const invitation = { email: 'ada@example.com', role: 'viewer' };
        const made = demand(await operator.send('POST', `${url}/api/org/invitations`, invitation), 201);
        const accept = { token: tokenIn(String(made.body['accept_url'])), name: 'Ada', password: PASSWORD };
        demand(await createBrowser().send('POST', `${url}/api/invitations/accept`, accept), 201);
        const args = ['users', 'reset-password', 'ada@example.com', '--data-dir', dataDirectory ?? ''];
        const running = run(args, {});
        assert.equal(running.status, 1);
        assert.match(running.stderr, /is in use by process \d+[\s\S]*Stop `relay start`/);
        await deployment.processes[0]?.stop();
        const stopped = run([...args, '--url', url], {});
        assert.equal(stopped.status, 0, stopped.stderr);
        const printed = JSON.parse(stopped.stdout) as { url: string };
        await deployment.restart();
        const body = { token: tokenIn(printed.url), new_password: NEXT };
        demand(await createBrowser().send('POST', `${url}/api/session/password-reset/confirm`, body), 204);
        const signedIn = { email: 'ada@example.com', password: NEXT };
        demand(await createBrowser().send('POST', `${url}/api/session`, signedIn), 201);
      } finally {
        await deployment.stop();
      }
    });
  });
}
