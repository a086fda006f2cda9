import { createHmac, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import type { HostedDeployment } from '../harness/hosted-deployment.ts';
import {
  type Claims,
  encode,
  goodClaims,
  goodHeader,
  goodToken,
  type Header,
  keyIdOf,
  publicBytes,
  type Signing,
  signedWith,
  token,
} from './forge-context.ts';

/** An invalid context in an otherwise valid request. */
export interface TokenAttack {
  readonly name: string;
  readonly token: (hosted: HostedDeployment) => string;
}

const nothing: Signing = () => Buffer.alloc(0);
const ownKey = generateKeyPairSync('ed25519').privateKey;

function withHeader(
  name: string,
  over: Header,
  signing?: (hosted: HostedDeployment) => Signing,
): TokenAttack {
  return {
    name,
    token: (hosted) => {
      const header = goodHeader(hosted.platformKey, over);
      const kept = Object.fromEntries(Object.entries(header).filter(([, value]) => value !== undefined));
      return token(kept, goodClaims(hosted.victim), signing?.(hosted) ?? signedWith(hosted.platformKey));
    },
  };
}

function withClaims(name: string, over: (nowSeconds: number) => Claims): TokenAttack {
  return {
    name,
    token: ({ platformKey, victim }) => goodToken(platformKey, victim, over(Math.floor(Date.now() / 1_000))),
  };
}

function edited(
  name: string,
  edit: (parts: [string, string, string], hosted: HostedDeployment) => string,
): TokenAttack {
  return {
    name,
    token: (hosted) => {
      const parts = goodToken(hosted.platformKey, hosted.acme).split('.') as [string, string, string];
      return edit(parts, hosted);
    },
  };
}

function editedClaims(claims: string, over: Claims): string {
  return encode({ ...(JSON.parse(Buffer.from(claims, 'base64url').toString()) as Claims), ...over });
}

const hmac =
  (secret: Buffer | string): Signing =>
  (input) =>
    createHmac('sha256', secret).update(input).digest();

const signatures: readonly TokenAttack[] = [
  withHeader('alg none', { alg: 'none' }, () => nothing),
  withHeader('alg None', { alg: 'None' }, () => nothing),
  withHeader('alg none over a true signature', { alg: 'none' }),
  withHeader('no alg', { alg: undefined }),
  withHeader('HS256 with the public key as secret', { alg: 'HS256' }, ({ platformKey }) =>
    hmac(publicBytes(platformKey)),
  ),
  withHeader('HS256 with the public key as it is configured', { alg: 'HS256' }, ({ platformKey }) =>
    hmac(String(platformKey.export({ format: 'jwk' }).x)),
  ),
  withHeader('HS256 with the public key in PEM', { alg: 'HS256' }, ({ platformKey }) =>
    hmac(String(createPublicKey(platformKey).export({ format: 'pem', type: 'spki' }))),
  ),
  withHeader('an HMAC that calls itself EdDSA', {}, ({ platformKey }) => hmac(publicBytes(platformKey))),
  withHeader('RS256', { alg: 'RS256' }, () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    return (input) => sign('sha256', input, privateKey);
  }),
  withHeader('ES256', { alg: 'ES256' }, () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    return (input) => sign('sha256', input, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  }),
  withHeader('the same algorithm by another name', { alg: 'Ed25519' }),
  withHeader('a stranger under the id of the platform', {}, () => signedWith(ownKey)),
  withHeader('a stranger under an id of their own', { kid: keyIdOf(ownKey) }, () => signedWith(ownKey)),
  withHeader(
    'a key of its own in the header',
    { jwk: createPublicKey(ownKey).export({ format: 'jwk' }) },
    () => signedWith(ownKey),
  ),
  withHeader('an address to fetch the key from', { jku: 'http://127.0.0.1:1/keys' }),
  withHeader('an extension that must be understood', { crit: ['exp'], exp: 1 }),
  withHeader('no key id', { kid: undefined }),
  withHeader('the type of another kind of token', { typ: 'JWT' }),
  withHeader('no type', { typ: undefined }),
];

const damaged: readonly TokenAttack[] = [
  edited('no signature', ([header, claims]) => `${header}.${claims}.`),
  edited('two parts', ([header, claims]) => `${header}.${claims}`),
  edited(
    'half a signature',
    ([header, claims, signature]) => `${header}.${claims}.${signature.slice(0, 43)}`,
  ),
  edited(
    'half of its claims',
    ([header, claims, signature]) => `${header}.${claims.slice(0, 80)}.${signature}`,
  ),
  edited('a signature with one letter changed', ([header, claims, signature]) => {
    const other = signature.startsWith('A') ? 'B' : 'A';
    return `${header}.${claims}.${other}${signature.slice(1)}`;
  }),
  edited('another organization', ([header, claims, signature], { victim }) =>
    [header, editedClaims(claims, { org: victim.organizationId }), signature].join('.'),
  ),
  edited('another user', ([header, claims, signature], { victim }) =>
    [header, editedClaims(claims, { usr: victim.userId }), signature].join('.'),
  ),
  edited('more scopes', ([header, claims, signature]) =>
    [header, editedClaims(claims, { scopes: ['relay:request', 'cloud:members:manage'] }), signature].join(
      '.',
    ),
  ),
  edited('another header over the same signature', ([, claims, signature], { platformKey }) =>
    [encode({ ...goodHeader(platformKey), x: 1 }), claims, signature].join('.'),
  ),
  edited(
    'five parts',
    ([header, claims, signature]) => `${header}.${claims}.${signature}.${claims}.${signature}`,
  ),
  edited('a word before it', (parts) => `Bearer ${parts.join('.')}`),
  edited('quotes around it', (parts) => `"${parts.join('.')}"`),
  { name: 'an empty text', token: () => '' },
  { name: 'a space', token: () => ' ' },
  { name: 'nine thousand letters', token: () => 'a'.repeat(9_000) },
];

const claims: readonly TokenAttack[] = [
  withClaims('another audience', () => ({ aud: 'relay-platform' })),
  withClaims('several audiences', () => ({ aud: ['relay-inference', 'relay-platform'] })),
  withClaims('no audience', () => ({ aud: undefined })),
  withClaims('another issuer', () => ({ iss: 'relay-inference' })),
  withClaims('no issuer', () => ({ iss: undefined })),
  withClaims('a life that is over', (now) => ({ iat: now - 40, exp: now - 10 })),
  withClaims('a life that has not begun', (now) => ({ iat: now + 20, exp: now + 50 })),
  withClaims('a life of an hour', (now) => ({ exp: now + 3_600 })),
  withClaims('no end', () => ({ exp: undefined })),
  withClaims('no beginning', () => ({ iat: undefined })),
  withClaims('no id', () => ({ jti: undefined })),
  withClaims('an id that is none', () => ({ jti: '*' })),
  withClaims('no organization', () => ({ org: undefined })),
  withClaims('no scopes', () => ({ scopes: undefined })),
  withClaims('no body hash', () => ({ bh: undefined })),
];

export const tokenAttacks: readonly TokenAttack[] = [...signatures, ...damaged, ...claims];
