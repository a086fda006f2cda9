import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { freePort } from '@relay/testbed';
import { Secret } from '../../kit/secret.ts';
import {
  type Answer,
  type Browser,
  type ConsoleFixture,
  join,
  signIn,
  signUp,
  startConsole,
} from './fixture.ts';
import { CLIENT_ID, CLIENT_SECRET, type Issuer, type Person, startIssuer } from './issuer.fixture.ts';

let issuer: Issuer;

function settings(joinRole: 'developer' | null = null) {
  return { issuer: issuer.url, clientId: CLIENT_ID, clientSecret: new Secret(CLIENT_SECRET), joinRole };
}

/** The round trip to the identity provider, as a browser does it. */
async function travel(browser: Browser, person: Person, path = '/api/sso/start'): Promise<Answer> {
  issuer.person = person;
  const away = await browser.send('GET', path);
  assert.equal(away.status, 302, JSON.stringify(away.body));
  const there = await fetch(away.headers.get('location') ?? '', { redirect: 'manual' });
  return browser.send('GET', there.headers.get('location') ?? '');
}

const person = (name: string, more: Partial<Person> = {}): Person => ({
  sub: `sub-${name}`,
  name,
  email: `${name.toLowerCase()}@example.com`,
  email_verified: true,
  ...more,
});

const meOf = async (browser: Browser) => {
  const { status, body } = await browser.send('GET', '/api/session');
  assert.equal(status, 200);
  const { user, org, role } = body as {
    user: { id: string; email: string };
    org: { id: string; name: string };
    role: string;
  };
  return { userId: user.id, email: user.email, organizationId: org.id, organization: org.name, role };
};

describe('single sign-on', () => {
  before(async () => {
    issuer = await startIssuer();
  });
  after(() => issuer.close());

  describe('single sign-on of a hosted deployment', () => {
    let room: ConsoleFixture;
    before(async () => {
      room = await startConsole({ mode: 'hosted', oidc: settings() });
    });
    after(() => room.close());

    it('goes to the issuer with PKCE, state and nonce, and comes back to the page it left from', async () => {
      const browser = room.browser();
      const away = await browser.send('GET', '/api/sso/start?return_to=%2Flanes%3Ftab%3D1');
      const to = new URL(away.headers.get('location') ?? '');
      assert.equal(to.origin, issuer.url);
      const query = Object.fromEntries(to.searchParams);
      assert.deepEqual(
        [query['response_type'], query['client_id'], query['redirect_uri'], query['code_challenge_method']],
        ['code', CLIENT_ID, `${room.url}/api/sso/callback`, 'S256'],
      );
      assert.deepEqual(new Set(query['scope']?.split(' ')), new Set(['openid', 'email', 'profile']));
      for (const name of ['state', 'nonce', 'code_challenge'])
        assert.ok((query[name]?.length ?? 0) >= 43, name);
      const [cookie = ''] = away.setCookies;
      assert.match(cookie, /^relay_sso=[^;]+; Path=\/api\/sso; Max-Age=600; HttpOnly; SameSite=Lax$/);
      assert.ok(!cookie.includes(query['state'] ?? ''));

      const home = await travel(browser, person('Ada'), '/api/sso/start?return_to=%2Flanes%3Ftab%3D1');
      assert.equal(home.status, 302, JSON.stringify(home.body));
      assert.equal(home.headers.get('location'), '/lanes?tab=1');
      assert.ok(browser.cookies.has('relay_session'));
      assert.ok(!browser.cookies.has('relay_sso'));
      const { authorization, form } = issuer.exchanges.at(-1) ?? { form: new URLSearchParams() };
      const basic = `${encodeURIComponent(CLIENT_ID)}:${CLIENT_SECRET.replaceAll(' ', '+')}`;
      assert.equal(authorization, `Basic ${Buffer.from(basic).toString('base64')}`);
      assert.equal(form.get('client_secret'), null);
    });

    it('gives a new user their own organization, once', async () => {
      const browser = room.browser();
      await travel(browser, person('Newcomer'));
      const me = await meOf(browser);
      assert.deepEqual([me.role, me.organization], ['owner', 'Newcomer’s organization']);
      const again = room.browser();
      // The subject identifies the user, even when the address changed.
      await travel(again, person('Newcomer', { email: 'married@example.com', email_verified: false }));
      assert.deepEqual(await meOf(again), me);
    });

    it('takes claims from the userinfo endpoint when the ID token has none', async () => {
      const browser = room.browser();
      const { email, email_verified, name } = person('Remote');
      await travel(browser, person('Remote', { userInfo: { email, email_verified, name } }));
      assert.equal((await meOf(browser)).email, 'remote@example.com');
    });

    it('adds an invited user to the inviting organization', async () => {
      const host = await signUp(room, 'Host');
      await room.invite(host.organizationId, 'Invited@example.com', 'viewer');
      const browser = room.browser();
      await travel(browser, person('Invited'));
      const { organizationId, role } = await meOf(browser);
      assert.deepEqual([organizationId, role], [host.organizationId, 'viewer']);
    });

    it('does not hand an account over to the first person who typed its address', async () => {
      const squatter = await signUp(room, 'Victim');
      const owner = room.browser();
      const refused = await travel(owner, person('Victim'));
      assert.deepEqual([refused.status, refused.code], [403, 'permission_denied']);
      assert.ok(!owner.cookies.has('relay_session'));
      // The browser is signed in to the account as well, so both are the same user.
      const linked = await travel(squatter.browser, person('Victim'));
      assert.equal(linked.status, 302);
      assert.equal((await meOf(squatter.browser)).userId, squatter.userId);
      const later = room.browser();
      await travel(later, person('Victim'));
      assert.equal((await meOf(later)).userId, squatter.userId);
      assert.equal((await signIn(room.browser(), squatter.email)).status, 201);
    });

    it('brings a removed member back with an invitation, and else to an organization of their own', async () => {
      const browser = room.browser();
      await travel(browser, person('Removed'));
      const { userId, organizationId: first } = await meOf(browser);
      const remove = () => room.db.deleteFrom('organization_members').where('user_id', '=', userId).execute();
      await remove();
      const host = await signUp(room, 'Forgiving');
      await room.invite(host.organizationId, 'removed@example.com', 'billing');
      const invited = room.browser();
      await travel(invited, person('Removed'));
      assert.equal((await meOf(invited)).organizationId, host.organizationId);
      await remove();
      const alone = room.browser();
      await travel(alone, person('Removed'));
      const { organizationId, role } = await meOf(alone);
      assert.equal(role, 'owner');
      assert.ok(![first, host.organizationId].includes(organizationId));
    });

    it('refuses an answer that is not for this client, this issuer, this moment or this journey', async () => {
      const lies: Record<string, Partial<Person>> = {
        'another audience': { idToken: { aud: 'somebody else' } },
        'another issuer': { idToken: { iss: 'https://evil.example' } },
        'another nonce': { idToken: { nonce: 'x'.repeat(43) } },
        'an expired token': { idToken: { exp: Math.floor(Date.now() / 1_000) - 60 } },
        'an unsigned token': { signature: 'none' },
        'a token of another key': { signature: 'other key' },
        'no token at all': { signature: 'missing' },
        'claims about somebody else': {
          userInfo: { sub: 'sub-other', email: 'x@example.com', email_verified: true },
        },
      };
      for (const [lie, more] of Object.entries(lies)) {
        const browser = room.browser();
        const { status, code } = await travel(browser, person('Liar', more));
        assert.deepEqual([status, code], [401, 'invalid_credentials'], lie);
        assert.ok(!browser.cookies.has('relay_session'), lie);
      }
      const users = await room.db
        .selectFrom('users')
        .select('id')
        .where('email', '=', 'liar@example.com')
        .execute();
      assert.deepEqual(users, []);
    });

    it('believes an address only when the issuer vouches for it', async () => {
      for (const email_verified of [false, undefined, 'false', 1]) {
        const { status, code } = await travel(room.browser(), person('Unverified', { email_verified }));
        assert.deepEqual([status, code], [403, 'permission_denied'], String(email_verified));
      }
      const nameless = await travel(room.browser(), { sub: 'sub-nameless' });
      assert.ok([401, 403].includes(nameless.status), String(nameless.status));
    });

    it('finishes a journey in the browser that began it, once, and in time', async () => {
      issuer.person = person('Traveller');
      const browser = room.browser();
      const away = await browser.send('GET', '/api/sso/start');
      const there = await fetch(away.headers.get('location') ?? '', { redirect: 'manual' });
      const callback = there.headers.get('location') ?? '';
      const stranger = room.browser();
      assert.equal((await stranger.send('GET', callback)).code, 'invalid_credentials');
      await stranger.send('GET', '/api/sso/start');
      assert.equal((await stranger.send('GET', callback)).code, 'invalid_credentials');
      const forged = new URL(callback);
      forged.searchParams.set('state', 'x'.repeat(43));
      assert.equal((await browser.send('GET', forged.toString())).code, 'invalid_credentials');
      const journey = browser.cookies.get('relay_sso') ?? '';
      assert.equal((await browser.send('GET', callback)).status, 302);
      browser.cookies.set('relay_sso', journey);
      assert.equal((await browser.send('GET', callback)).code, 'invalid_credentials', 'a code is used once');
      browser.cookies.set('relay_sso', `${journey.slice(0, -2)}00`);
      assert.equal((await browser.send('GET', callback)).code, 'invalid_credentials', 'a changed cookie');

      const slow = room.browser();
      const start = await slow.send('GET', '/api/sso/start');
      const late = await fetch(start.headers.get('location') ?? '', { redirect: 'manual' });
      room.skipMs(11 * 60_000);
      assert.equal((await slow.send('GET', late.headers.get('location') ?? '')).code, 'invalid_credentials');
    });

    it('says so when the issuer refuses, and returns to no other site', async () => {
      const browser = room.browser();
      const away = await browser.send('GET', '/api/sso/start');
      const state = new URL(away.headers.get('location') ?? '').searchParams.get('state');
      const refused = await browser.send('GET', `/api/sso/callback?error=access_denied&state=${state}`);
      assert.deepEqual([refused.status, refused.code], [401, 'invalid_credentials']);
      const elsewhere = await browser.send('GET', '/api/sso/start?return_to=%2F%2Fevil.example');
      assert.deepEqual([elsewhere.status, elsewhere.code], [400, 'invalid_request']);
    });
  });

  describe('single sign-on of a self-hosted deployment', () => {
    it('links invited members, and accepts no others without a default role', async () => {
      const room = await startConsole({ oidc: settings() });
      const { userId } = await join(room, room.owner.organizationId, 'Member', 'admin');
      const browser = room.browser();
      await travel(browser, person('Member'));
      assert.equal((await meOf(browser)).userId, userId);
      const stranger = await travel(room.browser(), person('Stranger'));
      assert.deepEqual([stranger.status, stranger.code], [403, 'permission_denied']);
      await room.close();
    });

    it('makes a new user a member when there is a default role', async () => {
      const room = await startConsole({ oidc: settings('developer') });
      const browser = room.browser();
      await travel(browser, person('Colleague'));
      const { organizationId, role } = await meOf(browser);
      assert.deepEqual([organizationId, role], [room.owner.organizationId, 'developer']);
      const entry = await room.db
        .selectFrom('audit_log')
        .select('action')
        .where('action', '=', 'member.create')
        .execute();
      assert.equal(entry.length, 1);
      await room.close();
    });

    it('is refused where it is not set up', async () => {
      const room = await startConsole();
      const { status, code } = await room.browser().send('GET', '/api/sso/start');
      assert.deepEqual([status, code], [403, 'mode_unsupported']);
      await room.close();
    });

    it('reports an unavailable issuer, and works when it returns', async () => {
      const port = await freePort();
      const oidc = { ...settings('developer'), issuer: `http://127.0.0.1:${port}` };
      const room = await startConsole({ oidc });
      const away = await room.browser().send('GET', '/api/sso/start');
      assert.deepEqual([away.status, away.code], [502, 'upstream_unreachable']);
      const late = await startIssuer(port);
      assert.equal((await room.browser().send('GET', '/api/sso/start')).status, 302);
      await late.close();
      await room.close();
    });
  });
});
