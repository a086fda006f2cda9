import { randomBytes } from 'node:crypto';
import { decodeJwt } from 'jose';
import { RelayError } from '../../domain/relay-error.ts';
import { createBoundedWork } from './bounded-work.ts';
import type { OidcSettings } from './deps.ts';
import type { Library } from './library.ts';
import { isSameText } from './session-secrets.ts';

/** What the browser keeps during the round trip to the identity provider. */
export interface SsoJourney {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly returnTo: string;
  readonly endsAtMs: number;
}

/** A user, as the identity provider describes them. */
export interface Profile {
  /** The account's provider id. It includes the issuer, because subjects are unique per issuer. */
  readonly providerId: string;
  readonly subject: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string;
}

export interface IdentityProvider {
  authorizationUrl(journey: SsoJourney): Promise<string>;
  /** Throws `invalid_credentials` when the response is not valid. */
  profile(code: string, journey: SsoJourney): Promise<Profile>;
}

const DEADLINE_MS = 10_000;
const NAME_CHARACTERS_MAX = 200;
/** Storable characters; OpenID Connect allows 255 ASCII characters. */
const SUBJECT = /^[^\0]{1,500}$/;
const EMAIL = /^[^\0\s@]+@[^\0\s@]+$/;
/** A slow issuer must not accumulate pending requests. */
const BOUNDS = { atOnceMax: 20, waitingMax: 100 };

export function newJourney(returnTo: string, endsAtMs: number): SsoJourney {
  const random = () => randomBytes(32).toString('base64url');
  return { state: random(), nonce: random(), codeVerifier: random(), returnTo, endsAtMs };
}

export function isSameState(journey: SsoJourney, state: string): boolean {
  return isSameText(journey.state, state);
}

type Claims = Readonly<Record<string, unknown>>;
type Provider = Awaited<ReturnType<typeof discover>>;

/**
 * One OpenID Connect provider for the deployment: code flow with PKCE. The library verifies the ID token's signature,
 * issuer, audience, expiry and nonce. The operator configures the issuer, so its address is not checked like those that
 * users enter; no user input can change the address that is called.
 */
export function createIdentityProvider(
  settings: OidcSettings,
  redirectUri: string,
  library: () => Promise<Library>,
): IdentityProvider {
  const bounded = createBoundedWork(BOUNDS);
  let known: Promise<Provider> | null = null;

  /** Cached after the first success; an unavailable issuer is asked again. */
  function provider(): Promise<Provider> {
    known ??= library()
      .then((loaded) => discover(settings, loaded))
      .catch((error: unknown) => {
        known = null;
        throw error;
      });
    return known;
  }

  async function exchange(code: string, { codeVerifier, nonce }: SsoJourney): Promise<Profile> {
    const found = await provider();
    const tokens = await found
      .validateAuthorizationCode({ code, codeVerifier, redirectURI: redirectUri })
      .catch((cause: unknown) => {
        throw notProven('the code exchange failed', cause);
      });
    const idToken = tokens?.idToken;
    // Without an ID token, nothing binds the response to this sign-in.
    if (tokens === null || idToken === undefined) throw notProven('the response has no ID token');
    const info = await found.getUserInfo({ ...tokens, expectedIdTokenNonce: nonce });
    if (info === null) throw notProven('the ID token is not valid');
    return profileOf(providerIdOf(settings), decodeJwt(idToken).sub, info.data as Claims);
  }

  return {
    async authorizationUrl({ state, nonce, codeVerifier }) {
      const found = await withinDeadline(bounded(provider));
      const url = await found.createAuthorizationURL({
        state,
        codeVerifier,
        idTokenNonce: nonce,
        redirectURI: redirectUri,
      });
      return url.toString();
    },
    profile: (code, journey) => withinDeadline(bounded(() => exchange(code, journey))),
  };
}

async function discover(settings: OidcSettings, { context }: Library) {
  const { genericOAuth } = await import('better-auth/plugins/generic-oauth');
  const issuer = settings.issuer.replace(/\/+$/, '');
  const secret = settings.clientSecret;
  const plugin = genericOAuth({
    config: [
      {
        providerId: providerIdOf(settings),
        discoveryUrl: `${issuer}/.well-known/openid-configuration`,
        requireIdTokenVerification: true,
        clientId: settings.clientId,
        ...(secret === null ? {} : { clientSecret: secret.reveal(), authentication: 'basic' as const }),
        scopes: ['openid', 'email', 'profile'],
        pkce: true,
      },
    ],
  });
  const { context: made } = await plugin.init(context as unknown as Parameters<typeof plugin.init>[0]);
  const found = made.socialProviders.find(({ id }) => id === providerIdOf(settings));
  if (found === undefined) throw unreachable('its configuration could not be read');
  if (found.issuer?.replace(/\/+$/, '') !== issuer)
    throw unreachable('its issuer differs from RELAY_OIDC_ISSUER');
  return found;
}

function providerIdOf({ issuer }: OidcSettings): string {
  return `oidc:${issuer.replace(/\/+$/, '')}`;
}

function profileOf(providerId: string, subject: unknown, claims: Claims): Profile {
  const { sub, email, email_verified: verified } = claims;
  if (typeof subject !== 'string' || !SUBJECT.test(subject))
    throw notProven('the ID token has no valid subject');
  // Claims may come from the userinfo endpoint, which must describe the same subject.
  if (sub !== subject) throw notProven('the claims are for another subject');
  if (typeof email !== 'string' || !EMAIL.test(email) || email.length > 320)
    throw new RelayError('permission_denied', {
      message: 'The identity provider sent no email address. Ask its administrator to add the email claim.',
    });
  const names = [claims['name'], claims['preferred_username'], email].map((each) =>
    typeof each === 'string' ? each.replaceAll('\0', '').trim() : '',
  );
  return {
    providerId,
    subject,
    email,
    emailVerified: verified === true || verified === 'true',
    name: (names.find((each) => each !== '') ?? email).slice(0, NAME_CHARACTERS_MAX),
  };
}

export function notProven(internal: string, cause?: unknown): RelayError {
  return ssoFailed(
    'Relay couldn’t verify the identity provider’s response. Sign in again; if it happens again, ask your administrator.',
    internal,
    cause,
  );
}

/** A failed sign-in that the person can do something about. */
export function ssoFailed(message: string, internal: string, cause?: unknown): RelayError {
  return new RelayError('invalid_credentials', {
    message,
    internal,
    ...(cause === undefined ? {} : { cause }),
  });
}

function unreachable(internal: string): RelayError {
  return new RelayError('upstream_unreachable', {
    message:
      'The identity provider is unreachable. Try again, or ask your administrator to check RELAY_OIDC_ISSUER.',
    internal,
  });
}

/** Only the wait is bounded: late work runs to its end and holds its slot until then. */
function withinDeadline<T>(work: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(unreachable('it did not respond in time')), DEADLINE_MS);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
