import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type Browser, createBrowser } from '../../harness/browser.ts';
import { type IdentityProvider, startIdentityProvider } from '../../harness/identity-provider.ts';
import type { Manner } from '../manner.ts';
import { secondGateway } from '../second-gateway.ts';

interface Site {
  readonly url: string;
  readonly identityProvider: IdentityProvider;
  readonly callback: string;
}

interface Refusal {
  readonly what: string;
  readonly status: number;
  /** What the page says: what happened and what to do. */
  readonly says: RegExp;
  arrive(site: Site, browser: Browser): Promise<string>;
}

/** The address at which the browser comes back from the identity provider. */
async function comeBack({ url: relayUrl, callback }: Site, browser: Browser): Promise<URL> {
  const { url } = await browser.follow(`${relayUrl}/api/sso/start`, callback);
  assert.ok(url.startsWith(`${callback}?`), url);
  return new URL(url);
}

function visit(site: Site, emailVerified: boolean, id: string = randomUUID()): void {
  site.identityProvider.person = { id, email: `${id}@example.com`, emailVerified, name: 'Visitor' };
}

/** The identity provider sends the browser back with an error instead of a code. */
function refusedWith(error: string): Refusal['arrive'] {
  return async (site, browser) => {
    visit(site, true);
    const url = await comeBack(site, browser);
    url.searchParams.delete('code');
    url.searchParams.set('error', error);
    url.searchParams.set('error_description', '<script>alert(1)</script>');
    return url.toString();
  };
}

const refusals: readonly Refusal[] = [
  {
    what: 'somebody unknown without an invitation',
    status: 403,
    says: /not an active member.*Ask an owner or admin for an invitation/s,
    async arrive(site, browser) {
      visit(site, true);
      return (await comeBack(site, browser)).toString();
    },
  },
  {
    what: 'an address that the identity provider does not vouch for',
    status: 403,
    says: /hasn’t verified your email address.*email_verified/s,
    async arrive(site, browser) {
      visit(site, false);
      return (await comeBack(site, browser)).toString();
    },
  },
  {
    what: 'denied consent',
    status: 401,
    says: /rejected the sign-in.*access_denied.*again/is,
    arrive: refusedWith('access_denied'),
  },
  {
    what: 'an error of the identity provider',
    status: 401,
    says: /identity provider.*server_error.*administrator/is,
    arrive: refusedWith('server_error'),
  },
  {
    what: 'an error that is no word of OpenID Connect',
    status: 401,
    says: /rejected the sign-in/i,
    arrive: refusedWith('<img src=x onerror=alert(1)>'),
  },
  {
    what: 'a browser that has begun nothing, or long ago',
    status: 401,
    says: /sign-in expired.*Start again/is,
    async arrive(site, browser) {
      visit(site, true);
      const url = await comeBack(site, browser);
      browser.cookies.clear();
      return url.toString();
    },
  },
  {
    what: 'the state of another sign-in',
    status: 401,
    says: /another sign-in.*Start again/is,
    async arrive(site, browser) {
      visit(site, true);
      const url = await comeBack(site, browser);
      url.searchParams.set('state', 'other');
      return url.toString();
    },
  },
  {
    what: 'a code that does not hold',
    status: 401,
    says: /Sign in again.*administrator/is,
    async arrive(site, browser) {
      visit(site, true);
      const url = await comeBack(site, browser);
      url.searchParams.set('code', 'forged');
      return url.toString();
    },
  },
  {
    what: 'an address to return to that is elsewhere',
    status: 400,
    says: /return_to must be a path/,
    arrive: async ({ url }) => `${url}/api/sso/start?return_to=//evil.example`,
  },
];

async function demandPage(url: string, browser: Browser, { what, status, says }: Refusal): Promise<void> {
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const response = await fetch(url, {
    redirect: 'manual',
    headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', ...(cookie === '' ? {} : { cookie }) },
  });
  const text = await response.text();
  assert.equal(response.status, status, `${what}: ${text}`);
  assert.match(response.headers.get('content-type') ?? '', /^text\/html/, what);
  assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'/, what);
  assert.equal(response.headers.get('cache-control'), 'no-store', what);
  assert.match(text, says, what);
  assert.match(text, /<h1>You are not signed in<\/h1>/, what);
  assert.match(text, /<a href="\/console\/">/, what);
  assert.ok(text.includes(response.headers.get('x-request-id') ?? 'none'), `${what}: the request id`);
  assert.doesNotMatch(text, /<script|<img/, what);
}

export const ssoRefusals: readonly Manner[] = [
  {
    name: 'a refused single sign-on ends on a page that says what happened and what to do',
    async check(shared) {
      const { relay, issuerPort } = await secondGateway(shared);
      const away = { what: 'an identity provider that is away', status: 502, says: /is unreachable/ };
      const arrive = async () => '';
      await demandPage(`${relay.url}/api/sso/start`, createBrowser(), { ...away, arrive });
      const identityProvider = await startIdentityProvider(issuerPort, relay.url);
      const site = { url: relay.url, identityProvider, callback: `${relay.url}/api/sso/callback` };
      try {
        for (const refusal of refusals) {
          const browser = createBrowser();
          await demandPage(await refusal.arrive(site, browser), browser, refusal);
        }
        const asJson = await fetch(site.callback, { headers: { accept: 'application/json' } });
        assert.match(asJson.headers.get('content-type') ?? '', /^application\/json/);
      } finally {
        await identityProvider.close();
      }
    },
  },
  {
    name: 'single sign-on that is not set up says so on a page',
    async check(site) {
      const arrive = async () => `${site.url}/api/sso/start`;
      const refusal = { what: 'not set up', status: 403, says: /not set up here/, arrive };
      await demandPage(await arrive(), createBrowser(), refusal);
    },
  },
];
