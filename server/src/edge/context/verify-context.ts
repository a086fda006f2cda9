import { errors, type JWTPayload, jwtVerify } from 'jose';
import type { Clock } from '../../kit/clock.ts';
import {
  ALGORITHM,
  AUDIENCE,
  CLOCK_LEEWAY_SECONDS,
  CONTEXT_SECONDS,
  type Context,
  contextOf,
  ISSUER,
  TYPE,
} from './context.ts';
import { type ContextKey, verifyKeyOf } from './context-key.ts';

/** Why a context was rejected, for the operator's log. */
export class ContextRefusedError extends Error {}

/** Verifies that a platform signed this, for this service and this time. Throws `ContextRefusedError`. */
export type VerifyContext = (token: string) => Promise<Context>;

const CHARACTERS_MAX = 8_192;
const HEADER_MEMBERS = 'alg,kid,typ';

export function createContextVerifier(deps: {
  /** Ed25519, 32 bytes each. Several, so that a key can be replaced while both are in use. */
  readonly publicKeys: readonly Buffer[];
  readonly clock: Clock;
}): VerifyContext {
  const keys = new Map<string, ContextKey<'public'>>();
  for (const bytes of deps.publicKeys) {
    const key = verifyKeyOf(bytes);
    keys.set(key.id, key);
  }

  return async (token) => {
    if (token.length > CHARACTERS_MAX) throw new ContextRefusedError('it is too long');
    const payload = await verified(token, keys, deps.clock.nowMs());
    const { aud, iat, exp } = payload;
    // A list of audiences would make the token valid for others as well.
    if (aud !== AUDIENCE) throw new ContextRefusedError('it is for another audience');
    if (iat === undefined || exp !== iat + CONTEXT_SECONDS)
      throw new ContextRefusedError('its lifetime is not valid');
    const context = contextOf(payload);
    if (context === null) throw new ContextRefusedError('its claims are not valid');
    return context;
  };
}

async function verified(
  token: string,
  keys: ReadonlyMap<string, ContextKey<'public'>>,
  nowMs: number,
): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(
      token,
      (header) => {
        // Further header parameters would have to be understood: keys to fetch, payloads to leave out.
        if (Object.keys(header).sort().join() !== HEADER_MEMBERS)
          throw new ContextRefusedError('its header is not valid');
        const known = keys.get(String(header.kid));
        if (known === undefined) throw new ContextRefusedError('no configured key has its key ID');
        return known.key;
      },
      {
        algorithms: [ALGORITHM],
        typ: TYPE,
        issuer: ISSUER,
        audience: AUDIENCE,
        currentDate: new Date(nowMs),
        clockTolerance: CLOCK_LEEWAY_SECONDS,
        maxTokenAge: CONTEXT_SECONDS,
        requiredClaims: ['exp'],
      },
    );
    return payload;
  } catch (error) {
    if (error instanceof ContextRefusedError) throw error;
    // Any other failure on untrusted bytes is a rejection too; the message says which.
    const why = error instanceof errors.JOSEError ? error.message : String(error);
    throw new ContextRefusedError(why, { cause: error });
  }
}
