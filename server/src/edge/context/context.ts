import { isScope, type Scope } from '@relay/contract';
import type { Caller } from '../../domain/caller.ts';

/**
 * What the platform tells inference about one authenticated request: who it acts for, and which request it is. It carries
 * no secret, no cookie and no content.
 */
export interface Context {
  readonly requestId: string;
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  readonly bodyDigest: string;
  readonly caller: Pick<Caller, 'organizationId' | 'userId' | 'keyId' | 'sessionId' | 'kind' | 'scopes'>;
  /** The configuration version that the caller was authenticated with. */
  readonly configVersion: number;
}

export const CONTEXT_HEADER = 'x-relay-context';
export const CONTEXT_SECONDS = 30;
/** How far the clocks of two servers may differ. */
export const CLOCK_LEEWAY_SECONDS = 5;
/** The only accepted algorithm, whatever a token claims. */
export const ALGORITHM = 'EdDSA';
export const TYPE = 'relay-context+jwt';
export const ISSUER = 'relay-platform';
export const AUDIENCE = 'relay-inference';

/** The claims besides the standard ones; named as in DPoP (RFC 9449) where possible. */
export interface ContextClaims {
  readonly jti: string;
  readonly htm: string;
  readonly htu: string;
  readonly bh: string;
  readonly org: string;
  readonly usr: string;
  readonly key: string | null;
  readonly ses: string | null;
  readonly kind: Caller['kind'];
  readonly scopes: readonly string[];
  readonly ver: number;
}

export function claimsOf(context: Context): ContextClaims {
  const { caller } = context;
  return {
    jti: context.requestId,
    htm: context.method,
    htu: context.target,
    bh: context.bodyDigest,
    org: caller.organizationId,
    usr: caller.userId,
    key: caller.keyId,
    ses: caller.sessionId,
    kind: caller.kind,
    scopes: [...caller.scopes],
    ver: context.configVersion,
  };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const KINDS: readonly Caller['kind'][] = ['api_token', 'admin_token', 'user_key', 'session'];

/** Null when a claim is missing or malformed. */
export function contextOf(claims: Readonly<Record<string, unknown>>): Context | null {
  const { jti, htm, htu, bh, org, usr, key, ses, kind, scopes, ver } = claims;
  if (!isText(jti) || !UUID.test(jti)) return null;
  if (!isText(htm) || !isText(htu) || !isText(bh) || !isText(org) || !isText(usr)) return null;
  if (!isTextOrNull(key) || !isTextOrNull(ses) || !isKind(kind)) return null;
  if (!Array.isArray(scopes) || !scopes.every(isText)) return null;
  if (typeof ver !== 'number' || !Number.isSafeInteger(ver) || ver < 0) return null;
  return {
    requestId: jti,
    method: htm,
    target: htu,
    bodyDigest: bh,
    caller: {
      organizationId: org,
      userId: usr,
      keyId: key,
      sessionId: ses,
      kind,
      // A scope that only a newer platform knows grants nothing here.
      scopes: new Set<Scope>(scopes.filter(isScope)),
    },
    configVersion: ver,
  };
}

function isKind(value: unknown): value is Caller['kind'] {
  return KINDS.some((kind) => kind === value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || isText(value);
}
