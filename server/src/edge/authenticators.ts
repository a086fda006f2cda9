import type { IncomingMessage } from 'node:http';
import { looksLikeApiKey } from '../domain/api-key.ts';
import type { Caller } from '../domain/caller.ts';
import { RelayError } from '../domain/relay-error.ts';
import {
  type Authenticate,
  type AuthenticateOptions,
  bearerOf,
  inferenceKeyOf,
} from '../http/authenticate.ts';
import type { TokenAuthenticator } from './deployment-tokens.ts';
import { cookieOf } from './identity/cookies.ts';
import type { OpenWithKey } from './user-keys.ts';

export type AuthenticateSession = (
  request: IncomingMessage,
  options?: AuthenticateOptions,
) => Promise<Caller>;

/** The credentials that a deployment accepts: self-hosted, all of them; hosted, everything except the tokens. */
export interface AuthenticatorsDeps {
  readonly tokens: { readonly inference: TokenAuthenticator; readonly management: TokenAuthenticator } | null;
  readonly userKey: OpenWithKey;
  /** The caller of a browser session. */
  readonly session: AuthenticateSession;
}

export interface Authenticators {
  readonly inference: Authenticate;
  readonly management: Authenticate;
}

const SESSION_COOKIE = 'relay_session';

/**
 * The credential's format selects the authenticator; Relay never tries one after the other. A credential in a header
 * wins over a cookie, which a browser sends by itself.
 */
export function createAuthenticators(deps: AuthenticatorsDeps): Authenticators {
  return {
    inference: createAuthenticator(deps, deps.tokens?.inference ?? null, inferenceKeyOf),
    management: createAuthenticator(deps, deps.tokens?.management ?? null, bearerOf),
  };
}

function createAuthenticator(
  { userKey, session }: AuthenticatorsDeps,
  token: TokenAuthenticator | null,
  keyOf: (request: IncomingMessage) => string | null,
): Authenticate {
  const key = 'an API key, which begins with rly_';
  const wanted = token === null ? key : `${key}, or the value of ${token.tokenName}`;
  return (request, options) => {
    const presented = keyOf(request);
    if (presented === null && isWithoutAuthorization(request) && hasSession(request))
      return session(request, options);
    if (presented === null) {
      throw new RelayError('missing_api_key', {
        message: `No key was sent. Send "Authorization: Bearer <key>" with ${wanted}.`,
      });
    }
    if (looksLikeApiKey(presented)) return userKey(presented);
    const caller = token?.open(presented) ?? null;
    if (caller !== null) return caller;
    throw new RelayError('invalid_api_key', {
      message: `The key is not valid here. Send ${wanted}.`,
    });
  };
}

function isWithoutAuthorization({ headers }: IncomingMessage): boolean {
  return headers.authorization === undefined;
}

function hasSession(request: IncomingMessage): boolean {
  return cookieOf(request.headers.cookie, SESSION_COOKIE) !== null;
}
