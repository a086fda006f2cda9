import { hash } from 'node:crypto';
import type { ServiceAccount } from '../../domain/service-account.ts';
import { backoffMs } from '../../kit/backoff.ts';
import type { Clock } from '../../kit/clock.ts';
import { type Egress, type OnceResult, sendOnce } from '../../kit/egress/index.ts';
import { entryIn } from '../../kit/entry-in.ts';
import { parseObject } from '../../kit/json-value.ts';
import { Secret } from '../../kit/secret.ts';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ASSERTION_SECONDS = 3_600;
const TIMEOUT_MS = 10_000;
const RESPONSE_BYTES_MAX = 64 * 1024;
const TOKENS_MAX = 10_000;
const RETRY = { minMs: 500, maxMs: 30_000 };
/** The shares of a token's life after which it is replaced in the background, and after which it is not sent any more. */
const REFRESH_AFTER = 0.7;
const UNUSED_AFTER = 0.95;
const LIFE_SECONDS_MAX = 86_400;
const LIFE_SECONDS_DEFAULT = 300;
/** A replacement that is rejected within this time shows that the token is not the cause. */
const REPLACED_MS_MIN = 60_000;

/** The token endpoint did not issue a token. The message is for people, and has no part of a secret. */
export class TokenError extends Error {}

export interface GoogleTokens {
  /** A token that is valid for some time yet. Without a promise when one is known. Rejects with `TokenError`. */
  tokenOf(secret: Secret, account: ServiceAccount, owner: string): Secret | Promise<Secret>;
  /** The provider rejected the token: it is replaced. If its replacement is rejected soon as well, the token is not the cause. */
  rejected(secret: Secret, owner: string, token: Secret): void;
}

export interface GoogleTokenDeps {
  readonly egress: Pick<Egress, 'dispatch'>;
  readonly clock: Clock;
  readonly random: () => number;
}

interface Token {
  readonly value: Secret;
  readonly refreshAtMs: number;
  readonly endsAtMs: number;
  /** When it was issued because the one before it was rejected, else null. */
  readonly replacedAtMs: number | null;
}

/** What is known for one secret of one owner. */
interface Held {
  token: Token | null;
  /** The request in progress, if any: there is one at a time. */
  issuing: Promise<Secret> | null;
  failures: number;
  failure: unknown;
  /** Not asked again before. */
  retryAtMs: number;
  wasRejected: boolean;
}

/**
 * Access tokens of service accounts, in memory. A token is replaced in the background when most of its life is over; as long as it is
 * valid, a token endpoint that fails affects no request.
 */
export function createGoogleTokens(deps: GoogleTokenDeps): GoogleTokens {
  const { clock } = deps;
  /** Oldest use first. */
  const held = new Map<string, Held>();

  function heldFor(secret: Secret, owner: string): Held {
    const key = keyOf(secret, owner);
    const known = held.get(key) ?? {
      token: null,
      issuing: null,
      failures: 0,
      failure: null,
      retryAtMs: 0,
      wasRejected: false,
    };
    held.delete(key);
    held.set(key, known);
    const oldest = held.size > TOKENS_MAX ? held.keys().next().value : undefined;
    if (oldest !== undefined) held.delete(oldest);
    return known;
  }

  function issue(of: Held, account: ServiceAccount, owner: string): Promise<Secret> {
    of.issuing ??= issued(deps, account, owner, of.wasRejected)
      .then(
        (token) => {
          Object.assign(of, { token, failures: 0, retryAtMs: 0, wasRejected: false });
          return token.value;
        },
        (error: unknown) => {
          of.failures += 1;
          of.failure = error;
          of.retryAtMs = clock.monotonicMs() + backoffMs(RETRY, of.failures - 1, deps.random);
          throw error;
        },
      )
      .finally(() => {
        of.issuing = null;
      });
    return of.issuing;
  }

  return {
    tokenOf(secret, account, owner) {
      const of = heldFor(secret, owner);
      const nowMs = clock.monotonicMs();
      const { token } = of;
      if (token === null || nowMs >= token.endsAtMs)
        return nowMs < of.retryAtMs && of.issuing === null
          ? Promise.reject(of.failure)
          : issue(of, account, owner);
      if (nowMs >= token.refreshAtMs && nowMs >= of.retryAtMs && of.issuing === null)
        // The token is still valid, so a failure affects no request.
        issue(of, account, owner).catch(() => undefined);
      return token.value;
    },
    rejected(secret, owner, rejected) {
      const of = held.get(keyOf(secret, owner));
      if (of === undefined || of.token === null) return;
      const { replacedAtMs } = of.token;
      if (replacedAtMs !== null && clock.monotonicMs() - replacedAtMs < REPLACED_MS_MIN) return;
      if (of.token.value.reveal() !== rejected.reveal()) return;
      of.token = null;
      of.wasRejected = true;
    },
  };
}

// A cache and not state: an entry depends on its key alone and is collected with it.
const digests = new WeakMap<Secret, string>();

/** By content: a new snapshot of the same configuration has other objects with the same secrets. */
function keyOf(secret: Secret, owner: string): string {
  const digest = entryIn(digests, secret, () => hash('sha256', secret.reveal()));
  return `${owner} ${digest}`;
}

async function issued(
  deps: GoogleTokenDeps,
  account: ServiceAccount,
  owner: string,
  isReplacement: boolean,
): Promise<Token> {
  const { clock, egress } = deps;
  const body = new URLSearchParams({
    grant_type: GRANT,
    assertion: await assertionOf(account, clock.nowMs()),
  });
  const { origin, hostname, pathPrefix } = account.target;
  const headers = ['content-type', 'application/x-www-form-urlencoded', 'accept', 'application/json'];
  // Its life counts from before the request, so that it ends here no later than at the issuer.
  const askedMs = clock.monotonicMs();
  const result = await sendOnce(
    { egress, clock, responseBytesMax: RESPONSE_BYTES_MAX, deadline: AbortSignal.timeout(TIMEOUT_MS) },
    origin,
    { method: 'POST', path: pathPrefix === '' ? '/' : pathPrefix, headers, body: Buffer.from(String(body)) },
    owner,
  );
  const { value, lifeMs } = readToken(result, hostname);
  return {
    value,
    refreshAtMs: askedMs + lifeMs * REFRESH_AFTER,
    endsAtMs: askedMs + lifeMs * UNUSED_AFTER,
    replacedAtMs: isReplacement ? askedMs : null,
  };
}

async function assertionOf(account: ServiceAccount, nowMs: number): Promise<string> {
  const { importPKCS8, SignJWT } = await import('jose');
  const nowSeconds = Math.floor(nowMs / 1000);
  try {
    const key = await importPKCS8(account.privateKey, 'RS256');
    const { clientEmail, privateKeyId, tokenUri } = account;
    return await new SignJWT({ scope: SCOPE })
      .setProtectedHeader({
        alg: 'RS256',
        typ: 'JWT',
        ...(privateKeyId === null ? {} : { kid: privateKeyId }),
      })
      .setIssuer(clientEmail)
      .setAudience(tokenUri)
      .setIssuedAt(nowSeconds)
      .setExpirationTime(nowSeconds + ASSERTION_SECONDS)
      .sign(key);
  } catch {
    throw new TokenError('the service account’s private key is not valid');
  }
}

function readToken(result: OnceResult, hostname: string): { value: Secret; lifeMs: number } {
  if (result.kind === 'failed')
    throw new TokenError(`the token endpoint at ${hostname} did not respond (${result.reason})`);
  const { access_token, expires_in } = parseObject(result.body.toString('utf8')) ?? {};
  if (result.status !== 200)
    throw new TokenError(`the token endpoint at ${hostname} returned ${result.status}`);
  if (typeof access_token !== 'string' || !/^[\x21-\x7e]+$/.test(access_token))
    throw new TokenError(`the token endpoint at ${hostname} returned no token`);
  // OAuth recommends to say how long a token lives, and some issuers say it as text.
  const seconds = expires_in === undefined ? LIFE_SECONDS_DEFAULT : Number(expires_in);
  if (!(seconds > 0)) throw new TokenError(`the token endpoint at ${hostname} returned an expired token`);
  return { value: new Secret(access_token), lifeMs: Math.min(seconds, LIFE_SECONDS_MAX) * 1000 };
}
