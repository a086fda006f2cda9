import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe } from 'node:test';
import { createBrowser } from '../harness/browser.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { storeServers, stores } from '../harness/stores.ts';
import {
  alternating,
  check,
  errorOf,
  PASSWORD,
  person,
  startConsole,
  stopConsole,
  tokenOf,
  travel,
} from './console.ts';

export function selfHostedCases(): void {
  describe('self-hosted with accounts', () => {
    let running: Awaited<ReturnType<typeof startConsole>>;
    let send: ReturnType<typeof alternating>;
    before(async () => {
      running = await startConsole({ RELAY_ACCOUNTS: 'true', RELAY_OIDC_JOIN_ROLE: 'viewer' });
      send = alternating(running.deployment);
    });
    after(() => stopConsole(running));

    const operator = async () => {
      const browser = createBrowser();
      const answer = await send(browser, 'POST', '/api/session', { token: running.deployment.adminToken });
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      return browser;
    };

    check('the operator signs in with the admin token and works as the owner', async () => {
      const browser = await operator();
      const provider = await send(browser, 'POST', '/api/relay/providers', {
        name: 'Sim',
        base_url: running.deployment.provider.url,
        auth_mode: 'bearer_static',
        enabled: true,
      });
      assert.equal(provider.status, 201, JSON.stringify(provider.body));
      const models = await send(browser, 'GET', '/v1/models');
      assert.equal(models.status, 200, JSON.stringify(models.body));
      const { apiToken } = running.deployment;
      const wrong = await send(createBrowser(), 'POST', '/api/session', { token: apiToken });
      assert.deepEqual(errorOf(wrong), [401, 'invalid_credentials']);
    });

    check('the sessions of a replaced admin token go on while it is listed', async () => {
      const browser = await operator();
      const env = {
        RELAY_ADMIN_TOKEN: randomBytes(24).toString('base64url'),
        RELAY_ADMIN_TOKEN_PREVIOUS: running.deployment.adminToken,
      };
      await running.deployment.beside({ env }, async (other) => {
        assert.equal((await browser.send('GET', `${other.url}/api/session`)).status, 200);
      });
      assert.equal((await browser.send('GET', `${running.deployment.url}/api/session`)).status, 200);
    });

    check('members are invited, and linked to the identity provider by their address', async () => {
      const { deployment, identityProvider } = running;
      const browser = await operator();
      const made = await send(browser, 'POST', '/api/org/invitations', {
        email: 'member@example.com',
        role: 'developer',
      });
      assert.equal(made.status, 201, JSON.stringify(made.body));
      const token = tokenOf(made);
      const member = createBrowser();
      const body = { token, name: 'Member', password: PASSWORD };
      const joined = await send(member, 'POST', '/api/invitations/accept', body);
      assert.equal(joined.status, 201, JSON.stringify(joined.body));
      const sso = createBrowser();
      await travel(deployment, identityProvider, sso, person('Member'));
      const session = await send(sso, 'GET', '/api/session');
      assert.deepEqual(session.body['user'], joined.body['user']);
    });

    check('whoever the identity provider knows joins with the role for them', async () => {
      const browser = createBrowser();
      await travel(running.deployment, running.identityProvider, browser, person('Colleague'));
      const session = await send(browser, 'GET', '/api/session');
      assert.deepEqual([session.status, session.body['role']], [200, 'viewer']);
    });

    check('nobody signs up', async () => {
      const answer = await send(createBrowser(), 'POST', '/api/signup', {
        name: 'x',
        email: 'x@example.com',
        password: PASSWORD,
        organization_name: 'x',
      });
      assert.deepEqual(errorOf(answer), [403, 'mode_unsupported']);
    });

    check('attempts are limited without Redis, whether it is away or there is none', async () => {
      if (stores === 'servers') await running.deployment.redis.stop();
      const url = `${running.deployment.url}/api/session`;
      const guesses: number[] = [];
      for (let index = 0; index < 12; index += 1) {
        const body = { email: 'member@example.com', password: `guess ${index}` };
        guesses.push((await createBrowser().send('POST', url, body)).status);
      }
      assert.deepEqual(guesses, [...Array<number>(10).fill(401), 429, 429]);
      if (stores === 'servers') await running.deployment.redis.start();
    });

    check(
      'PostgreSQL away is 503',
      async () => {
        const browser = await operator();
        await running.deployment.postgres.stop();
        const away = await browser.send('GET', `${running.deployment.url}/api/session`);
        assert.deepEqual(errorOf(away), [503, 'store_unavailable']);
        await running.deployment.postgres.start();
      },
      storeServers.it,
    );
  });

  describe('self-hosted without accounts', () => {
    let deployment: Deployment;
    before(async () => {
      deployment = await startDeployment();
    });
    after(() => deployment.stop());

    check('the operator has a session, and nothing is there that needs accounts', async () => {
      const browser = createBrowser();
      const send = alternating(deployment);
      const opened = await send(browser, 'POST', '/api/session', { token: deployment.adminToken });
      assert.equal(opened.status, 201, JSON.stringify(opened.body));
      assert.equal((await send(browser, 'GET', '/api/relay/providers')).status, 200);
      assert.equal((await send(browser, 'GET', '/api/account/sessions')).status, 200);
      const password = await send(createBrowser(), 'POST', '/api/session', {
        email: 'a@example.com',
        password: PASSWORD,
      });
      assert.deepEqual(errorOf(password), [403, 'accounts_disabled']);
      const sso = await send(browser, 'GET', '/api/sso/start');
      assert.deepEqual(errorOf(sso), [403, 'accounts_disabled']);
      assert.equal((await send(browser, 'DELETE', '/api/session')).status, 204);
      assert.deepEqual(errorOf(await send(browser, 'GET', '/api/session')), [401, 'missing_api_key']);
    });
  });
}
