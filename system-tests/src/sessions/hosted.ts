import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { codeOf } from '../harness/authenticator.ts';
import { type Browser, createBrowser } from '../harness/browser.ts';
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

export function hostedCases(): void {
  describe('hosted', () => {
    let running: Awaited<ReturnType<typeof startConsole>>;
    let send: ReturnType<typeof alternating>;
    before(async () => {
      running = await startConsole({ RELAY_MODE: 'hosted' });
      send = alternating(running.deployment);
    });
    after(() => stopConsole(running));

    async function signUp(name: string) {
      const browser = createBrowser();
      const email = `${name.toLowerCase()}@example.com`;
      const body = { name, email, password: PASSWORD, organization_name: `${name} Inc` };
      const answer = await send(browser, 'POST', '/api/signup', body);
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      return { browser, email, answer, organizationId: (answer.body['org'] as { id: string }).id };
    }
    const signIn = (browser: Browser, email: string, more: object = {}) =>
      send(browser, 'POST', '/api/session', { email, password: PASSWORD, ...more });

    check('somebody signs up and works in an organization of their own', async () => {
      const { browser, answer } = await signUp('Ada');
      const [cookie = ''] = answer.headers.getSetCookie();
      assert.match(cookie, /^relay_session=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/);
      const account = await send(browser, 'GET', '/api/account');
      assert.deepEqual([account.status, account.body['role']], [200, 'owner']);
      const key = await send(browser, 'POST', '/api/account/api-keys', {
        name: 'first',
        scopes: ['relay:request'],
      });
      assert.equal(key.status, 201, JSON.stringify(key.body));
    });

    check('a session needs its own token for writes and takes none from other sites', async () => {
      const { browser } = await signUp('Csrf');
      const create = (headers: Record<string, string>) =>
        send(browser, 'POST', '/api/account/api-keys', { name: 'k', scopes: ['relay:request'] }, headers);
      assert.deepEqual(errorOf(await create({ 'x-csrf-token': '' })), [403, 'csrf_failed']);
      assert.deepEqual(errorOf(await create({ 'x-csrf-token': 'x'.repeat(43) })), [403, 'csrf_failed']);
      assert.deepEqual(errorOf(await create({ origin: 'https://evil.example' })), [403, 'csrf_failed']);
      assert.equal((await create({})).status, 201);
    });

    check('keys open no route of browsers', async () => {
      const { browser } = await signUp('Keys');
      const made = await send(browser, 'POST', '/api/account/api-keys', {
        name: 'whole',
        scopes: ['relay:request', 'cloud:account:manage'],
      });
      const authorization = `Bearer ${made.body['api_key']}`;
      for (const [method, path] of [
        ['GET', '/api/session'],
        ['DELETE', '/api/session'],
        ['GET', '/api/account/sessions'],
        ['POST', '/api/account/password'],
        ['POST', '/api/account/email'],
        ['POST', '/api/account/totp'],
      ] as const) {
        const body = method === 'POST' ? {} : undefined;
        const answer = await send(createBrowser(), method, path, body, { authorization });
        assert.deepEqual(errorOf(answer), [403, 'permission_denied'], `${method} ${path}`);
      }
    });

    check('a wrong password and an unknown address get the same answer', async () => {
      const { email } = await signUp('Grace');
      const wrong = await signIn(createBrowser(), email, { password: 'wrong' });
      const unknown = await signIn(createBrowser(), 'nobody@example.com');
      assert.deepEqual(errorOf(wrong), [401, 'invalid_credentials']);
      assert.deepEqual(errorOf(unknown), [401, 'invalid_credentials']);
      assert.equal((await signIn(createBrowser(), email)).status, 201);
    });

    check(
      'ten failures from one address are its last for a while, on every process, at this account only',
      async () => {
        const { email } = await signUp('Throttled');
        const other = await signUp('Calm');
        const guesses = await Promise.all(
          Array.from({ length: 16 }, (_, index) =>
            signIn(createBrowser(), email, { password: `guess ${index}` }),
          ),
        );
        assert.equal(guesses.filter(({ status }) => status === 401).length, 10);
        const refused = await signIn(createBrowser(), email);
        assert.deepEqual(errorOf(refused), [429, 'too_many_attempts']);
        const seconds = Number(refused.headers.get('retry-after'));
        assert.ok(seconds > 600 && seconds <= 900, `Retry-After: ${seconds}`);
        assert.equal((await signIn(createBrowser(), other.email)).status, 201);
      },
    );

    check(
      'signing out, revoking and changing the password end sessions on every process at once',
      async () => {
        const { browser, email } = await signUp('Leaver');
        const open = async () => {
          const opened = createBrowser();
          assert.equal((await signIn(opened, email)).status, 201);
          return opened;
        };
        const [first, second, third] = [await open(), await open(), await open()];
        const endedEverywhere = async (ended: Browser, cookies: Map<string, string>) => {
          for (const process of running.deployment.processes) {
            for (const [name, value] of cookies) ended.cookies.set(name, value);
            assert.deepEqual(errorOf(await ended.send('GET', `${process.url}/api/session`)), [
              401,
              'session_expired',
            ]);
          }
        };
        const held = (of: Browser) => new Map(of.cookies);
        const cookies = held(first);
        assert.equal((await send(first, 'DELETE', '/api/session')).status, 204);
        await endedEverywhere(first, cookies);
        const list = (await send(browser, 'GET', '/api/account/sessions')).body as unknown as {
          id: string;
          current: boolean;
        }[];
        assert.equal(list.length, 3);
        const newest = list.find(({ current }) => !current);
        assert.equal((await send(browser, 'DELETE', `/api/account/sessions/${newest?.id}`)).status, 204);
        await endedEverywhere(third, held(third));
        const change = { current_password: PASSWORD, new_password: `${PASSWORD}!` };
        assert.equal((await send(browser, 'POST', '/api/account/password', change)).status, 204);
        await endedEverywhere(second, held(second));
        assert.equal((await send(browser, 'GET', '/api/session')).status, 200);
        assert.equal((await signIn(createBrowser(), email)).status, 401);
      },
    );

    check(
      'a second factor is asked for, takes each code once, and is removed with the password',
      async () => {
        const { browser, email } = await signUp('Careful');
        const setup = await send(browser, 'POST', '/api/account/totp', { password: PASSWORD });
        assert.equal(setup.status, 201, JSON.stringify(setup.body));
        const uri = setup.body['uri'] as string;
        const [backup = ''] = setup.body['backup_codes'] as string[];
        const confirmation = codeOf(uri);
        assert.equal(
          (await send(browser, 'POST', '/api/account/totp/confirm', { code: confirmation })).status,
          204,
        );
        assert.deepEqual(errorOf(await signIn(createBrowser(), email)), [401, 'totp_required']);
        for (const code of [confirmation, '000000', 'AAAAA-AAAAA']) {
          const refused = await signIn(createBrowser(), email, { totp_code: code });
          assert.deepEqual(errorOf(refused), [401, 'invalid_credentials'], code);
        }
        const next = codeOf(uri, 1);
        assert.equal((await signIn(createBrowser(), email, { totp_code: next })).status, 201);
        assert.equal((await signIn(createBrowser(), email, { totp_code: next })).status, 401);
        assert.equal((await signIn(createBrowser(), email, { totp_code: backup })).status, 201);
        assert.equal((await signIn(createBrowser(), email, { totp_code: backup })).status, 401);
        assert.equal(
          (await send(browser, 'POST', '/api/account/totp/remove', { password: PASSWORD })).status,
          204,
        );
        assert.equal((await signIn(createBrowser(), email)).status, 201);
      },
    );

    check('an invitation by link makes members of newcomers and of people with an account', async () => {
      const host = await signUp('Host');
      const invite = async (email: string, role: string) => {
        const made = await send(host.browser, 'POST', '/api/org/invitations', { email, role });
        assert.equal(made.status, 201, JSON.stringify(made.body));
        return tokenOf(made);
      };
      const newcomer = createBrowser();
      const token = await invite('newcomer@example.com', 'viewer');
      const body = { token, name: 'Newcomer', password: PASSWORD };
      const joined = await send(newcomer, 'POST', '/api/invitations/accept', body);
      assert.deepEqual([joined.status, joined.body['role']], [201, 'viewer']);
      assert.deepEqual(errorOf(await send(createBrowser(), 'POST', '/api/invitations/accept', body)), [
        404,
        'not_found',
      ]);
      const refused = await send(newcomer, 'POST', '/api/org/invitations', {
        email: 'x@example.com',
        role: 'viewer',
      });
      assert.deepEqual(errorOf(refused), [403, 'permission_denied']);

      const guest = await signUp('Guest');
      const second = await invite(guest.email, 'developer');
      const stranger = await send(createBrowser(), 'POST', '/api/invitations/accept', { token: second });
      assert.deepEqual(errorOf(stranger), [409, 'conflict']);
      const accepted = await send(guest.browser, 'POST', '/api/invitations/accept', { token: second });
      assert.deepEqual([accepted.status, (accepted.body['orgs'] as unknown[]).length], [201, 2]);
      const back = await send(guest.browser, 'PATCH', '/api/session', { org_id: guest.organizationId });
      assert.deepEqual([back.status, back.body['role']], [200, 'owner']);
    });

    check('a member who is suspended or removed is out on every process with the next request', async () => {
      const host = await signUp('Strict');
      const made = await send(host.browser, 'POST', '/api/org/invitations', {
        email: 'suspect@example.com',
        role: 'developer',
      });
      const token = tokenOf(made);
      const member = createBrowser();
      const body = { token, name: 'Suspect', password: PASSWORD };
      const joined = await send(member, 'POST', '/api/invitations/accept', body);
      const userId = (joined.body['user'] as { id: string }).id;
      const update = (change: object) => send(host.browser, 'PATCH', `/api/org/members/${userId}`, change);
      const seen = async () => [
        (await send(member, 'GET', '/api/account')).code,
        (await send(member, 'GET', '/api/account')).code,
      ];
      assert.deepEqual(await seen(), [undefined, undefined]);
      assert.equal((await update({ status: 'suspended' })).status, 200);
      assert.deepEqual(await seen(), ['permission_denied', 'permission_denied']);
      assert.equal((await update({ status: 'active' })).status, 200);
      assert.deepEqual(await seen(), [undefined, undefined]);
      assert.equal((await send(host.browser, 'DELETE', `/api/org/members/${userId}`)).status, 204);
      assert.deepEqual(await seen(), ['session_expired', 'session_expired']);
    });

    check('single sign-on founds an organization for somebody new and knows them again', async () => {
      const { deployment, identityProvider } = running;
      const browser = createBrowser();
      const { url } = await travel(deployment, identityProvider, browser, person('Single'));
      assert.equal(url, `${deployment.url}/lanes`);
      const session = await send(browser, 'GET', '/api/session');
      assert.deepEqual([session.status, session.body['role']], [200, 'owner']);
      const again = createBrowser();
      await travel(deployment, identityProvider, again, {
        ...person('Single', false),
        email: 'other@example.com',
      });
      const known = await send(again, 'GET', '/api/session');
      assert.deepEqual(known.body['user'], session.body['user']);
    });

    check('single sign-on does not take over an account, and takes no address on trust', async () => {
      const { deployment, identityProvider } = running;
      const squatter = await signUp('Victim');
      const owner = await travel(deployment, identityProvider, createBrowser(), person('Victim'));
      assert.deepEqual(errorOf(owner.answer), [403, 'permission_denied']);
      const unverified = await travel(
        deployment,
        identityProvider,
        createBrowser(),
        person('Doubtful', false),
      );
      assert.deepEqual(errorOf(unverified.answer), [403, 'permission_denied']);
      // The same browser proves both: then they are one.
      const linked = await travel(deployment, identityProvider, squatter.browser, person('Victim'));
      assert.equal(linked.url, `${deployment.url}/lanes`);
    });

    check(
      'single sign-on is finished by the browser that began it, and returns to no other site',
      async () => {
        const { deployment, identityProvider } = running;
        identityProvider.person = person('Traveller');
        const browser = createBrowser();
        const callback = `${deployment.url}/api/sso/callback`;
        const { url } = await browser.follow(`${deployment.url}/api/sso/start`, callback);
        assert.ok(url.startsWith(`${callback}?`), url);
        assert.deepEqual(errorOf(await createBrowser().send('GET', url)), [401, 'invalid_credentials']);
        assert.equal((await browser.send('GET', url)).status, 302);
        assert.deepEqual(errorOf(await browser.send('GET', url)), [401, 'invalid_credentials']);
        const elsewhere = await browser.send(
          'GET',
          `${deployment.url}/api/sso/start?return_to=//evil.example`,
        );
        assert.deepEqual(errorOf(elsewhere), [400, 'invalid_request']);
      },
    );

    check('the admin token is of no use', async () => {
      const { adminToken } = running.deployment;
      const answer = await send(createBrowser(), 'POST', '/api/session', { token: adminToken });
      assert.deepEqual(errorOf(answer), [403, 'mode_unsupported']);
    });
  });
}
