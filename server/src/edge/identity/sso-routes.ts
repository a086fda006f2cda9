import { demandAccounts } from '../../domain/accounts.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { Handlers } from '../../http/call.ts';
import { clearCookie, cookieOf, setCookie } from './cookies.ts';
import {
  createIdentityProvider,
  type IdentityProvider,
  isSameState,
  newJourney,
  notProven,
  type SsoJourney,
  ssoFailed,
} from './identity-provider.ts';
import { localPath } from './local-path.ts';
import { openSession } from './open-session.ts';
import type { Parts } from './parts.ts';

import { arriveBySso } from './sso-person.ts';

const CALLBACK_PATH = '/api/sso/callback';
const JOURNEY_COOKIE = 'relay_sso';
const JOURNEY_MS = 10 * 60_000;

/**
 * The round trip to the identity provider. Its state travels in an encrypted cookie: it binds the sign-in to the browser
 * that began it, and starting many costs nothing.
 */
export function ssoHandlers(parts: Parts): Handlers {
  const { deps } = parts;
  const provider =
    deps.oidc === null
      ? null
      : createIdentityProvider(deps.oidc, deps.publicUrl + CALLBACK_PATH, parts.library);
  const cookie = { name: JOURNEY_COOKIE, path: '/api/sso', secure: deps.publicUrl.startsWith('https:') };

  function demandProvider(): IdentityProvider {
    demandAccounts(parts.deps);
    if (provider !== null) return provider;
    throw new RelayError('mode_unsupported', {
      message:
        'Single sign-on is not set up here. Ask the operator to set RELAY_OIDC_ISSUER and RELAY_OIDC_CLIENT_ID.',
    });
  }

  async function seal(journey: SsoJourney): Promise<string> {
    const library = await parts.library();
    return library.seal(JSON.stringify(journey));
  }

  async function openJourney(header: string | undefined): Promise<SsoJourney> {
    const sealed = cookieOf(header, JOURNEY_COOKIE);
    if (sealed === null) throw tooLate('the browser sent no sign-in cookie');
    const { open } = await parts.library();
    try {
      const journey: SsoJourney = JSON.parse(await open(sealed));
      return journey;
    } catch (cause) {
      throw notProven('the sign-in cookie could not be decrypted', cause);
    }
  }

  return {
    async startSso(call) {
      const identityProvider = demandProvider();
      const returnTo = localPath(call.query.return_to ?? '/', deps.publicUrl);
      if (returnTo === null) {
        throw new RelayError('invalid_request', {
          message: 'return_to must be a path in this console, such as /lanes.',
          param: 'return_to',
        });
      }
      const journey = newJourney(returnTo, deps.clock.nowMs() + JOURNEY_MS);
      call.setHeader('location', await identityProvider.authorizationUrl(journey));
      call.setHeader('set-cookie', setCookie(cookie, await seal(journey), JOURNEY_MS));
      call.setHeader('cache-control', 'no-store');
      return undefined;
    },
    async finishSso(call) {
      const identityProvider = demandProvider();
      const { code, state, error } = call.query;
      const journey = await openJourney(call.header('cookie'));
      if (journey.endsAtMs < deps.clock.nowMs()) throw tooLate('the sign-in took too long');
      if (state === undefined || !isSameState(journey, state)) throw otherJourney();
      call.setHeader('set-cookie', clearCookie(cookie));
      if (error !== undefined || code === undefined) throw refusedBy(error ?? '');
      const profile = await identityProvider.profile(code, journey);
      const session = await parts.sessions.find(call.header('cookie'));
      const arrival = await arriveBySso(deps, call.requestId, profile, session?.userId ?? null);
      await openSession(parts, call, { ...arrival, method: 'single_sign_on' });
      call.setHeader('location', journey.returnTo);
      return undefined;
    },
  };
}

function tooLate(internal: string): RelayError {
  return ssoFailed(
    'This sign-in expired, or your browser blocks cookies. Start again from the sign-in page.',
    internal,
  );
}

function otherJourney(): RelayError {
  return ssoFailed(
    'This response belongs to another sign-in, perhaps in another tab. Start again from the sign-in page.',
    'the state does not match',
  );
}

/** Error codes of OpenID Connect and OAuth are words like this; other text is not shown. */
const OAUTH_ERROR = /^[a-z_]{1,50}$/;

function refusedBy(error: string): RelayError {
  const named = OAUTH_ERROR.test(error) ? ` Its error was \`${error}\`.` : '';
  return ssoFailed(
    `The identity provider rejected the sign-in.${named} Try again and grant the access it requests, or ask its administrator for access.`,
    `the identity provider rejected the sign-in: ${JSON.stringify(error.slice(0, 100))}`,
  );
}
