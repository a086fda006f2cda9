import { CompactSign } from 'jose';
import type { Clock } from '../../kit/clock.ts';
import { ALGORITHM, AUDIENCE, CONTEXT_SECONDS, type Context, claimsOf, ISSUER, TYPE } from './context.ts';
import { signingKeyOf } from './context-key.ts';

export type SignContext = (context: Context) => Promise<string>;

/** The seed of an Ed25519 key: 32 random bytes. */
export function createContextSigner(deps: { readonly seed: Buffer; readonly clock: Clock }): SignContext {
  const { key, id } = signingKeyOf(deps.seed);
  const header = { alg: ALGORITHM, typ: TYPE, kid: id };
  return (context) => {
    const iat = Math.floor(deps.clock.nowMs() / 1_000);
    const claims = { iss: ISSUER, aud: AUDIENCE, iat, exp: iat + CONTEXT_SECONDS, ...claimsOf(context) };
    return new CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader(header).sign(key);
  };
}
