import { type AwsKeys, awsKeysIn, awsScopeOf } from '../../domain/aws-keys.ts';
import { type ServiceAccount, serviceAccountIn } from '../../domain/service-account.ts';
import type { Provider } from '../../domain/snapshot.ts';
import { authorizeRequest, authorizeWithToken, authStyles } from '../../domain/upstream-auth.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Egress, EgressRequest } from '../../kit/egress/index.ts';
import { entryIn } from '../../kit/entry-in.ts';
import { Secret } from '../../kit/secret.ts';
import { createGoogleTokens, type GoogleTokens } from './google-tokens.ts';
import { signAws } from './sign-aws.ts';

/** What decides how requests to a provider are authenticated. */
export type ProviderAuth = Pick<Provider, 'authMode' | 'authHeaderName' | 'awsRegion' | 'awsService'>;

/** `no_secret`: there is no secret that the provider's style can use. */
export type Authorized = 'ready' | 'no_secret';

/** Where a request goes, with which secret, and for which organization. */
export interface AuthTarget {
  readonly provider: ProviderAuth;
  readonly origin: string;
  readonly secret: Secret | null;
  readonly organizationId: string;
}

export interface UpstreamAuth {
  /**
   * Adds the authentication to a finished request. Without a promise where nothing has to be computed or asked for, so that most
   * requests do not wait for anything. Rejects with `TokenError` when no token is issued.
   */
  authorize(request: EgressRequest, target: AuthTarget): Authorized | Promise<Authorized>;
  /** The provider answered 401: a token that was sent with the request is not used again. */
  rejected(request: EgressRequest, target: AuthTarget): void;
}

export interface UpstreamAuthDeps {
  readonly clock: Clock;
  readonly egress: Pick<Egress, 'dispatch'>;
  readonly random: () => number;
}

export function createUpstreamAuth(deps: UpstreamAuthDeps): UpstreamAuth {
  const tokens = createGoogleTokens(deps);
  return {
    authorize(request, target) {
      const { provider, secret } = target;
      const { authMode, authHeaderName } = provider;
      if (authStyles[authMode].apply !== null || secret === null)
        return authorizeRequest(request, authMode, authHeaderName, secret) ? 'ready' : 'no_secret';
      return authMode === 'google_service_account'
        ? withToken(tokens, request, secret, target.organizationId)
        : signed(request, provider, target.origin, secret, deps.clock.nowMs());
    },
    rejected({ headers }, { provider: { authMode }, secret, organizationId }) {
      if (authMode !== 'google_service_account' || secret === null) return;
      const sent = headers[headers.lastIndexOf('authorization') + 1]?.slice('Bearer '.length);
      if (sent !== undefined) tokens.rejected(secret, organizationId, new Secret(sent));
    },
  };
}

// Caches and not state: an entry depends on its key alone and is collected with it.
const awsKeys = new WeakMap<Secret, AwsKeys | null>();
const serviceAccounts = new WeakMap<Secret, ServiceAccount | null>();

function withToken(
  tokens: GoogleTokens,
  request: EgressRequest,
  secret: Secret,
  organizationId: string,
): Authorized | Promise<Authorized> {
  const account = entryIn(serviceAccounts, secret, () => serviceAccountIn(secret.reveal()));
  if (account === null) return 'no_secret';
  const ready = (token: Secret): Authorized => {
    authorizeWithToken(request, secret, token);
    return 'ready';
  };
  const token = tokens.tokenOf(secret, account, organizationId);
  return token instanceof Secret ? ready(token) : token.then(ready);
}

async function signed(
  request: EgressRequest,
  provider: ProviderAuth,
  origin: string,
  secret: Secret,
  nowMs: number,
): Promise<Authorized> {
  const { host, hostname } = new URL(origin);
  const keys = entryIn(awsKeys, secret, () => awsKeysIn(secret.reveal()));
  const scope = awsScopeOf(provider, hostname);
  if (keys === null || scope === null) return 'no_secret';
  const { method, path, headers, body } = request;
  const added = await signAws(
    { method, path, headers: { host, ...signedHeaders(headers) }, body },
    { keys, scope, nowMs, sendsHash: true },
  );
  headers.push(...Object.entries(added).flat());
  return 'ready';
}

/** Those that AWS wants to be signed. A proxy on the way may change any other, such as `traceparent`. */
function signedHeaders(list: readonly string[]): Record<string, string> {
  const kept: Record<string, string> = {};
  for (let at = 0; at < list.length; at += 2) {
    const name = (list[at] ?? '').toLowerCase();
    if (name === 'content-type' || name.startsWith('x-amz-')) kept[name] = list[at + 1] ?? '';
  }
  return kept;
}
