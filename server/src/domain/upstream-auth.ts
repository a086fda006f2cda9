import type { Guardrail, Provider } from '@relay/contract';
import type { ClientIdentity, EgressRequest } from '../kit/egress/index.ts';
import { entryIn } from '../kit/entry-in.ts';
import type { Secret } from '../kit/secret.ts';
import { awsKeysIn } from './aws-keys.ts';
import { clientIdentityIn } from './client-certificate.ts';
import { serviceAccountIn } from './service-account.ts';

/** How Relay authenticates to a provider or a guardrail. */
export type AuthMode = Provider['auth_mode'] | Guardrail['auth_mode'];

interface AuthStyle {
  readonly needsSecret: boolean;
  /** The configuration has to name the header that carries the secret. */
  readonly needsHeaderName: boolean;
  /** How the secret is sent, in words for people. */
  readonly sentAs: (headerName: string | null) => string;
  /** What is wrong with a secret, to follow its name; null when it can be used. Never quotes the secret. */
  readonly problemOf: (secret: string) => string | null;
  /**
   * Adds the secret to the finished request. False when the secret does not fit the style. Null for styles that sign the request or get a token first: see
   * `protocols/upstream-auth`.
   */
  readonly apply: ((request: EgressRequest, secret: Secret, headerName: string | null) => boolean) | null;
  /** The part of the secret that a provider gets to see, and may quote. Null when it gets none. */
  readonly sentPart: (secret: Secret) => string | null;
}

const HEADER_NAME_DEFAULT = 'x-api-key';

const asHeader = {
  needsSecret: true,
  problemOf: (secret: string) => unsendable(secret) ?? signingKey(secret),
  sentPart: (secret: Secret) => secret.reveal(),
} as const;

/** Every auth style. Adding one means a row here, its value in the contract and a migration of the stored values. */
export const authStyles: Readonly<Record<AuthMode, AuthStyle>> = {
  none: {
    needsSecret: false,
    needsHeaderName: false,
    sentAs: () => 'nothing',
    problemOf: unsendable,
    apply: () => true,
    sentPart: () => null,
  },
  bearer_static: {
    ...asHeader,
    needsHeaderName: false,
    sentAs: () => '"Authorization: Bearer …"',
    apply: ({ headers }, secret) => headers.push('authorization', `Bearer ${secret.reveal()}`) > 0,
  },
  header_static: {
    ...asHeader,
    needsHeaderName: true,
    sentAs: (headerName) => `the header "${headerName ?? HEADER_NAME_DEFAULT}"`,
    apply: ({ headers }, secret, headerName) =>
      headers.push(headerName ?? HEADER_NAME_DEFAULT, secret.reveal()) > 0,
  },
  aws_sigv4: {
    needsSecret: true,
    needsHeaderName: false,
    sentAs: () => 'an AWS signature (SigV4)',
    problemOf: (secret) =>
      awsKeysIn(secret) === null
        ? 'must be JSON with access_key_id, secret_access_key and, for temporary credentials, session_token'
        : null,
    apply: null,
    sentPart: (secret) => awsKeysIn(secret.reveal())?.sessionToken ?? null,
  },
  google_service_account: {
    needsSecret: true,
    needsHeaderName: false,
    sentAs: () => '"Authorization: Bearer …" with a service account token',
    problemOf: (secret) =>
      serviceAccountIn(secret) === null
        ? 'must be the JSON key of a Google service account, with client_email, private_key and token_uri'
        : null,
    apply: null,
    sentPart: (secret) => sentTokens.get(secret)?.reveal() ?? null,
  },
  client_certificate: {
    needsSecret: true,
    needsHeaderName: false,
    sentAs: () => 'a client certificate',
    problemOf: (secret) =>
      clientIdentityIn(secret) === null
        ? 'must be a certificate and its private key, both as PEM and without a passphrase'
        : null,
    apply(request, secret) {
      const identity = identityOf(secret);
      if (identity !== null) request.identity = identity;
      return identity !== null;
    },
    sentPart: () => null,
  },
};

// A cache and not state: an entry depends on its key alone and is collected with it.
const fitting = new WeakMap<Secret, Map<AuthMode, boolean>>();

/** Whether the secret can be used in this way. It may have been stored for another: a private key must not be sent as a token. */
export function fitsStyle(mode: AuthMode, secret: Secret): boolean {
  const known = entryIn(fitting, secret, () => new Map());
  return entryIn(known, mode, () => authStyles[mode].problemOf(secret.reveal()) === null);
}

// A cache and not state: an entry depends on its key alone and is collected with it.
const identities = new WeakMap<Secret, ClientIdentity | null>();

function identityOf(secret: Secret): ClientIdentity | null {
  return entryIn(identities, secret, () => clientIdentityIn(secret.reveal()));
}

// The newest token that was sent for a secret, which the provider may quote.
const sentTokens = new WeakMap<Secret, Secret>();

/** Adds a token that was issued for the secret. */
export function authorizeWithToken({ headers }: EgressRequest, secret: Secret, token: Secret): void {
  sentTokens.set(secret, token);
  headers.push('authorization', `Bearer ${token.reveal()}`);
}

/** Adds the authentication of a style that sends the secret itself. False when the style needs a secret and has none that fits. */
export function authorizeRequest(
  request: EgressRequest,
  mode: AuthMode,
  headerName: string | null,
  secret: Secret | null,
): boolean {
  const style = authStyles[mode];
  if (!style.needsSecret) return true;
  if (secret === null || style.apply === null) return false;
  return style.apply(request, secret, headerName);
}

/** What signs requests stays here: it is not a key to be sent. */
function signingKey(secret: string): string | null {
  return awsKeysIn(secret) === null && serviceAccountIn(secret) === null
    ? null
    : 'is a signing key, which must never be sent. Choose the auth_mode that it is for, or enter another secret';
}

/** What a header cannot carry. The usual cause is a line break pasted along with the key, which is hard to see. */
function unsendable(secret: string): string | null {
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(secret)
    ? null
    : 'must be printable ASCII without line breaks or leading or trailing spaces. Copy the key again';
}
