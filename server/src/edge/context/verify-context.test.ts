import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, type KeyObject, sign as signBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { contextFor, newKeyPair } from './context.fixture.ts';
import { claimsOf } from './context.ts';
import { signingKeyOf, verifyKeyOf } from './context-key.ts';
import { createContextSigner } from './sign-context.ts';
import { ContextRefusedError, createContextVerifier } from './verify-context.ts';

const NOW_MS = 1_800_000_000_250;
const NOW_SECONDS = 1_800_000_000;
const platform = newKeyPair();
const { key: privateKey, id: keyId } = signingKeyOf(platform.seed);
const context = contextFor();

const at = (nowMs: number) => ({ nowMs: () => nowMs, monotonicMs: () => nowMs });
const sign = createContextSigner({ seed: platform.seed, clock: at(NOW_MS) });
const verify = createContextVerifier({ publicKeys: [platform.publicKey], clock: at(NOW_MS) });

const goodHeader = { alg: 'EdDSA', typ: 'relay-context+jwt', kid: keyId };
const goodClaims = {
  iss: 'relay-platform',
  aud: 'relay-inference',
  iat: NOW_SECONDS,
  exp: NOW_SECONDS + 30,
  ...claimsOf(context),
};

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
type Signing = (input: string) => Buffer;
const byPlatform: Signing = (input) => signBytes(null, Buffer.from(input), privateKey);

/** A token built by hand, so that it can be wrong in any way. */
function forge(header: object, claims: object, signing: Signing = byPlatform): string {
  const input = `${encode(header)}.${encode(claims)}`;
  return `${input}.${signing(input).toString('base64url')}`;
}

function rsa(): KeyObject {
  return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
}

describe('a context', () => {
  it('reads as it was signed', async () => {
    assert.deepEqual(await verify(await sign(context)), context);
    assert.deepEqual(await verify(forge(goodHeader, goodClaims)), context);
  });

  it('carries no key, cookie or body, and fits a header', async () => {
    const token = await sign(context);
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as object;
    assert.deepEqual(Object.keys(claims).sort(), Object.keys(goodClaims).sort());
    assert.ok(token.length < 2_048);
  });

  it('is taken from any of several platforms, and not from one whose key was taken out', async () => {
    const other = newKeyPair();
    const fromOther = await createContextSigner({ seed: other.seed, clock: at(NOW_MS) })(context);
    const both = createContextVerifier({
      publicKeys: [platform.publicKey, other.publicKey],
      clock: at(NOW_MS),
    });
    await both(fromOther);
    await both(await sign(context));
    await assert.rejects(verify(fromOther), ContextRefusedError);
  });

  it('holds for thirty seconds and a little leeway for clocks, and not before its time', async () => {
    const token = await sign(context);
    const verifyAt = (offsetMs: number) =>
      createContextVerifier({ publicKeys: [platform.publicKey], clock: at(NOW_MS + offsetMs) })(token);
    for (const offsetMs of [-5_000, 0, 29_000, 34_000]) await verifyAt(offsetMs);
    for (const offsetMs of [-7_000, 36_000, 3_600_000])
      await assert.rejects(verifyAt(offsetMs), ContextRefusedError, `${offsetMs} ms`);
  });

  const { publicKey } = platform;
  const publicPem = String(verifyKeyOf(publicKey).key.export({ format: 'pem', type: 'spki' }));
  const hmac =
    (secret: Buffer | string): Signing =>
    (input) =>
      createHmac('sha256', secret).update(input).digest();
  const withClaims = (claims: object) => forge(goodHeader, { ...goodClaims, ...claims });
  const [head = '', body = '', signature = ''] = forge(goodHeader, goodClaims).split('.');

  const refused: [string, () => string][] = [
    ['no algorithm', () => forge({ ...goodHeader, alg: 'none' }, goodClaims, () => Buffer.alloc(0))],
    ['no algorithm but a signature', () => forge({ ...goodHeader, alg: 'none' }, goodClaims)],
    [
      'no algorithm in capitals',
      () => forge({ ...goodHeader, alg: 'NONE' }, goodClaims, () => Buffer.alloc(0)),
    ],
    [
      'the public key as the secret of an HMAC',
      () => forge({ ...goodHeader, alg: 'HS256' }, goodClaims, hmac(publicKey)),
    ],
    [
      'its PEM as the secret of an HMAC',
      () => forge({ ...goodHeader, alg: 'HS256' }, goodClaims, hmac(publicPem)),
    ],
    ['an HMAC that says EdDSA', () => forge(goodHeader, goodClaims, hmac(publicKey))],
    [
      'RSA',
      () => {
        const key = rsa();
        return forge({ ...goodHeader, alg: 'RS256' }, goodClaims, (input) =>
          signBytes('sha256', Buffer.from(input), key),
        );
      },
    ],
    [
      'an elliptic curve of another kind',
      () => {
        const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
        return forge({ ...goodHeader, alg: 'ES256' }, goodClaims, (input) =>
          signBytes('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }),
        );
      },
    ],
    ['the same curve under another name', () => forge({ ...goodHeader, alg: 'Ed25519' }, goodClaims)],
    [
      'a key of its own in the header',
      () => {
        const own = generateKeyPairSync('ed25519');
        return forge({ ...goodHeader, jwk: own.publicKey.export({ format: 'jwk' }) }, goodClaims, (input) =>
          signBytes(null, Buffer.from(input), own.privateKey),
        );
      },
    ],
    [
      'an address to fetch a key from',
      () => forge({ ...goodHeader, jku: 'http://127.0.0.1/keys' }, goodClaims),
    ],
    [
      'an extension that must be understood',
      () => forge({ ...goodHeader, crit: ['b64'], b64: false }, goodClaims),
    ],
    ['no key id', () => forge({ alg: 'EdDSA', typ: goodHeader.typ }, goodClaims)],
    ['a key id of nobody', () => forge({ ...goodHeader, kid: 'unknown' }, goodClaims)],
    ['the type of another token', () => forge({ ...goodHeader, typ: 'JWT' }, goodClaims)],
    [
      'a stranger under the id of the platform',
      () => {
        const { key } = signingKeyOf(newKeyPair().seed);
        return forge(goodHeader, goodClaims, (input) => signBytes(null, Buffer.from(input), key));
      },
    ],
    ['no signature', () => `${head}.${body}.`],
    ['only two parts', () => `${head}.${body}`],
    ['half a signature', () => `${head}.${body}.${signature.slice(0, 43)}`],
    ['a token cut in its claims', () => `${head}.${body.slice(0, -8)}.${signature}`],
    ['edited claims', () => `${head}.${encode({ ...goodClaims, org: goodClaims.usr })}.${signature}`],
    ['two tokens in one', () => `${head}.${body}.${signature}, ${head}.${body}.${signature}`],
    ['an empty text', () => ''],
    ['a text without end', () => 'a'.repeat(100_000)],
    ['another audience', () => withClaims({ aud: 'relay-platform' })],
    ['a list of audiences', () => withClaims({ aud: ['relay-inference', 'other'] })],
    ['no audience', () => withClaims({ aud: undefined })],
    ['another issuer', () => withClaims({ iss: 'relay-inference' })],
    ['no issuer', () => withClaims({ iss: undefined })],
    ['no end', () => withClaims({ exp: undefined })],
    ['no beginning', () => withClaims({ iat: undefined })],
    ['a longer life', () => withClaims({ exp: NOW_SECONDS + 3_600 })],
    ['a life that is over', () => withClaims({ iat: NOW_SECONDS - 60, exp: NOW_SECONDS - 30 })],
    ['a life yet to come', () => withClaims({ iat: NOW_SECONDS + 60, exp: NOW_SECONDS + 90 })],
    ['a time that is text', () => withClaims({ exp: String(NOW_SECONDS + 30) })],
    ['an id that is none', () => withClaims({ jti: 'x' })],
    ['no id', () => withClaims({ jti: undefined })],
    ['no organization', () => withClaims({ org: '' })],
    ['no user', () => withClaims({ usr: null })],
    ['a kind of caller that there is not', () => withClaims({ kind: 'root' })],
    ['scopes that are a text', () => withClaims({ scopes: 'relay:request' })],
    ['a version that is none', () => withClaims({ ver: -1 })],
    ['claims that are a list', () => forge(goodHeader, [goodClaims])],
  ];
  for (const [what, token] of refused)
    it(`opens nothing with ${what}`, () => assert.rejects(verify(token()), ContextRefusedError));

  it('gives no scope that this version does not know', async () => {
    const { caller } = await verify(withClaims({ scopes: ['relay:request', 'relay:everything'] }));
    assert.deepEqual([...caller.scopes], ['relay:request']);
  });
});
