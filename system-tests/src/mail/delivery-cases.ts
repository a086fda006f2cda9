import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import { selfSigned } from '@relay/testbed';
import { startRefused } from '../harness/relay-process.ts';
import { type SmtpProcess, startSmtp } from '../harness/smtp-process.ts';
import { until } from '../harness/until.ts';
import { check, demand, mailSettings, type Site, startSite, tokenIn } from './site.ts';

const LOGIN = { user: 'relay@mail', password: 'hunter2/secret:' };
const written = `${encodeURIComponent(LOGIN.user)}:${encodeURIComponent(LOGIN.password)}`;
const INVITATION = /^Invitation to /;

async function invite(site: Site, email: string): Promise<{ ms: number; delivery: unknown; url: string }> {
  const owner = await site.owner();
  const begun = performance.now();
  const body = { email, role: 'viewer' };
  const answer = demand(await site.send(owner, site.newAddress(), 'POST', '/api/org/invitations', body), 201);
  return {
    ms: performance.now() - begun,
    delivery: answer.body['email_delivery'],
    url: String(answer.body['accept_url']),
  };
}
const logsOf = (site: Site) => site.deployment.processes.flatMap(({ logs }) => logs);
const logged = (site: Site, message: string) => logsOf(site).filter(({ msg }) => msg === message);

/** What the mail server may do, and that no request notices. */
export function deliveryCases(): void {
  describe('delivery', () => {
    const folder = mkdtempSync(join(tmpdir(), 'relay-mail-'));
    const { key, cert } = selfSigned();
    const authority = join(folder, 'authority.pem');
    before(() => writeFileSync(authority, cert));
    after(() => rmSync(folder, { recursive: true }));
    const trusted = { NODE_EXTRA_CA_CERTS: authority };

    async function on(
      smtp: SmtpProcess,
      url: string,
      more: Record<string, string>,
      run: (site: Site) => Promise<void>,
    ): Promise<void> {
      const env = { ...mailSettings(url), ...more };
      const site = await startSite('self_hosted', { processes: 1, smtp, env });
      try {
        await run(site);
      } finally {
        await site.stop();
      }
    }

    for (const tls of ['starttls', 'implicit'] as const) {
      check(
        `a message goes over ${tls === 'implicit' ? 'TLS' : 'STARTTLS'} with a password, which no log has`,
        async () => {
          const smtp = await startSmtp({ tls, key, cert, login: LOGIN });
          const scheme = tls === 'implicit' ? 'smtps' : 'smtp';
          await on(smtp, `${scheme}://${written}@localhost:${smtp.port}`, trusted, async (site) => {
            const { url, delivery } = await invite(site, 'secure@example.com');
            assert.equal(delivery, 'queued');
            const mail = await smtp.next('secure@example.com', INVITATION);
            assert.deepEqual([mail.secure, mail.user], [true, LOGIN.user]);
            assert.ok(smtp.attempts.every(({ secure }) => secure));
            await until(() => logged(site, 'mail sent').length > 0, 5_000);
            const logs = JSON.stringify(logsOf(site));
            assert.ok(logs.includes('mail server is ready'));
            for (const secret of ['hunter2', tokenIn(url), 'secure@example.com', LOGIN.user])
              assert.ok(!logs.includes(secret), secret);
          });
        },
      );
    }

    check('a server that offers no STARTTLS gets neither the password nor a message', async () => {
      const smtp = await startSmtp({ tls: 'none', login: LOGIN });
      await on(smtp, `smtp://${written}@localhost:${smtp.port}`, trusted, async (site) => {
        await invite(site, 'stripped@example.com');
        assert.ok(await until(() => logged(site, 'mail not sent; will retry').length >= 2, 15_000));
        assert.deepEqual([smtp.attempts, smtp.messages], [[], []]);
      });
    });

    check('a certificate that no authority vouches for gets neither the password nor a message', async () => {
      const smtp = await startSmtp({ tls: 'starttls', key, cert, login: LOGIN });
      await on(smtp, `smtp://${written}@localhost:${smtp.port}`, {}, async (site) => {
        await invite(site, 'untrusted@example.com');
        assert.ok(await until(() => logged(site, 'mail not sent; will retry').length >= 1, 15_000));
        assert.match(
          String(logged(site, 'mail not sent; will retry')[0]?.['reason']),
          /self-signed certificate/,
        );
        assert.deepEqual([smtp.attempts, smtp.messages], [[], []]);
      });
    });

    check('a rejected password is retried until the server accepts it', async () => {
      const smtp = await startSmtp({ tls: 'starttls', key, cert, login: { ...LOGIN, password: 'other' } });
      await on(smtp, `smtp://${written}@localhost:${smtp.port}`, trusted, async (site) => {
        const { delivery } = await invite(site, 'patient@example.com');
        assert.equal(delivery, 'queued');
        assert.ok(await until(() => logged(site, 'mail not sent; will retry').length >= 1, 15_000));
        const [failure] = logged(site, 'mail not sent; will retry');
        assert.deepEqual([failure?.['code'], failure?.['reply'], failure?.['reason']], ['EAUTH', 535, null]);
        await smtp.kill();
        await smtp.start({ login: LOGIN });
        assert.equal((await smtp.next('patient@example.com', INVITATION)).user, LOGIN.user);
      });
    });

    check(
      'a server that is away or hangs delays no request, and gets the message when it is back',
      async () => {
        const smtp = await startSmtp({ tls: 'none' }, false);
        await on(smtp, `smtp://127.0.0.1:${smtp.port}`, {}, async (site) => {
          const { ms, delivery } = await invite(site, 'waiting@example.com');
          assert.ok(delivery === 'queued' && ms < 1_000, `${delivery} after ${ms} ms`);
          assert.ok(await until(() => logged(site, 'mail not sent; will retry').length >= 1, 15_000));
          await smtp.start();
          await smtp.next('waiting@example.com', INVITATION);
        });
      },
    );

    check('a server that never greets delays neither a request nor the end of the process', async () => {
      const silent = await listening();
      const smtp = await startSmtp({ tls: 'none' }, false);
      await on(smtp, `smtp://127.0.0.1:${silent.port}`, {}, async (site) => {
        const { ms, delivery } = await invite(site, 'silent@example.com');
        assert.ok(delivery === 'queued' && ms < 1_000, `${delivery} after ${ms} ms`);
        const begun = performance.now();
        await site.deployment.processes[0]?.stop();
        assert.ok(performance.now() - begun < 14_000, `${performance.now() - begun} ms`);
        assert.equal(logged(site, 'mail dropped: the process is stopping').length, 1);
      }).finally(() => silent.server.close());
    });

    check('a mailbox that the server rejects is not tried again', async () => {
      const smtp = await startSmtp();
      await on(smtp, `smtp://127.0.0.1:${smtp.port}`, {}, async (site) => {
        await invite(site, 'refused@example.com');
        assert.ok(await until(() => logged(site, 'mail dropped').length === 1, 10_000));
        await invite(site, 'next@example.com');
        await smtp.next('next@example.com', INVITATION);
        assert.equal(smtp.refused.length, 1);
        assert.ok(!JSON.stringify(logsOf(site)).includes('refused@example.com'));
      });
    });

    check('settings that cannot work stop the start, in words and without the password', async () => {
      for (const [env, said] of [
        [
          { RELAY_SMTP_URL: 'smtps://u:hunter2@mail.example.com' },
          /Set both RELAY_SMTP_URL and RELAY_MAIL_FROM/,
        ],
        [
          { ...mailSettings('http://u:hunter2@mail'), RELAY_PUBLIC_URL: 'https://x' },
          /RELAY_SMTP_URL must be a URL such as smtps:/,
        ],
        [{ ...mailSettings('smtp://u:hunter2@mail?tls=none') }, /must not have a password with tls=none/],
        [
          { ...mailSettings('smtps://mail'), RELAY_PUBLIC_URL: '' },
          /RELAY_PUBLIC_URL is missing\. Links in email/,
        ],
        [
          { ...mailSettings('smtps://mail'), RELAY_MAIL_FROM: 'nobody' },
          /RELAY_MAIL_FROM must be an email address/,
        ],
      ] as const) {
        const refused = await startRefused({ env: { ...complete, ...env } });
        assert.ok(refused.code !== 0 && said.test(refused.stderr), refused.stderr);
        assert.ok(!refused.stderr.includes('hunter2'));
      }
    });
  });
}

/** Enough for a start, with stores that do not exist. */
const complete = {
  DATABASE_URL: 'postgres://127.0.0.1:1/none',
  REDIS_URL: 'redis://127.0.0.1:1',
  RELAY_API_TOKEN: 'a8Zr2vTn5LwXk1Ys7Bd4Hf9Jc3Mp6Ga0Ue8Ri2oVt5K',
  RELAY_ADMIN_TOKEN: 'b8Zr2vTn5LwXk1Ys7Bd4Hf9Jc3Mp6Ga0Ue8Ri2oVt5K',
  RELAY_MASTER_KEY: randomBytes(32).toString('base64'),
};

/** Accepts connections and says nothing. */
function listening(): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => socket.on('error', () => undefined));
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve({ server, port: typeof address === 'object' ? (address?.port ?? 0) : 0 });
    });
  });
}
