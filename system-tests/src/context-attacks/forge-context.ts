import { createHash, createPublicKey, type KeyObject, randomUUIDv7, sign } from 'node:crypto';
import type { Tenant } from '../harness/hosted-deployment.ts';

// Builds contexts from their documentation, so that each part can be valid or invalid.

export const PATH = '/v1/chat/completions';
export const BODY = '{"model":"main","messages":[{"role":"user","content":"Say hello."}]}';

export type Claims = Readonly<Record<string, unknown>>;
export type Header = Readonly<Record<string, unknown>>;
export type Signing = (input: Buffer) => Buffer;

/** The claims that a platform would sign for this tenant's POST of `BODY` to `PATH`. */
export function goodClaims(tenant: Tenant, over: Claims = {}): Claims {
  const iat = Math.floor(Date.now() / 1_000);
  return {
    iss: 'relay-platform',
    aud: 'relay-inference',
    iat,
    exp: iat + 30,
    jti: randomUUIDv7(),
    htm: 'POST',
    htu: PATH,
    bh: bodyHash(BODY),
    org: tenant.organizationId,
    usr: tenant.userId,
    key: tenant.keyId,
    ses: null,
    kind: 'user_key',
    scopes: ['relay:request'],
    ver: 0,
    ...over,
  };
}

export function goodHeader(key: KeyObject, over: Header = {}): Header {
  return { alg: 'EdDSA', typ: 'relay-context+jwt', kid: keyIdOf(key), ...over };
}

export function bodyHash(body: string): string {
  return createHash('sha256').update(body).digest('base64url');
}

export function publicBytes(key: KeyObject): Buffer {
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32);
}

export function keyIdOf(key: KeyObject): string {
  return createHash('sha256').update(publicBytes(key)).digest('base64url').slice(0, 16);
}

export function signedWith(key: KeyObject): Signing {
  return (input) => sign(null, input, key);
}

export function token(header: Header, claims: Claims, signing: Signing): string {
  const input = `${encode(header)}.${encode(claims)}`;
  return `${input}.${signing(Buffer.from(input)).toString('base64url')}`;
}

/** A valid context, for one use. */
export function goodToken(key: KeyObject, tenant: Tenant, over: Claims = {}): string {
  return token(goodHeader(key), goodClaims(tenant, over), signedWith(key));
}

export function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
